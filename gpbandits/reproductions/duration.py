"""The duration of a short study is estimated by running the first rounds of each agent."""

from __future__ import annotations

from time import perf_counter

from gpbandits.evaluation import evaluate
from gpbandits.experiments import AgentEntry, EnvironmentEntry, Study

REHEARSED = 10  # rounds


def seconds_of(study: Study, workers: int) -> float:
    """Estimate the duration of a study in seconds from the first rounds of its agents.

    It is an order of magnitude: rounds become slower as a posterior grows or hyperparameters are learnt, and
    the first may be the slowest if work is done once.

    Args:
        study: a study with one block of trials.
        workers: number of processes that share the cells.
    """
    cells = [_seconds(study, entry, agent) for entry in study.environments for agent in study.agents]
    return max(sum(cells) / workers, *cells)


def in_words(seconds: float) -> str:
    """Return a duration in words, such as "3 minutes"."""
    for size, unit in ((3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1.0):.0f} seconds"


def _seconds(study: Study, entry: EnvironmentEntry, agent: AgentEntry) -> float:
    """Estimate the seconds of one agent on one environment: the setup and all rounds."""
    limited = {**entry.kwargs, "max_episode_steps": REHEARSED}
    options = {"trials": study.trials, "seed": study.seed, "env_kwargs": limited}
    begin = perf_counter()
    result = evaluate(entry.id, {agent.label: (agent.name, agent.options)}, **options)
    whole = perf_counter() - begin
    deciding = float(result.seconds[agent.label].sum())
    rounds = entry.kwargs.get("horizon", REHEARSED)
    return whole + deciding * max(rounds / result.horizon - 1.0, 0.0)
