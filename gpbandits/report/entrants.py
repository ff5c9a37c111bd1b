"""The leaderboard's studies pair every agent with every environment whose features it handles."""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

import gymnasium as gym

from agents.protocol import demanded as demanded_by
from agents.registry import names as agent_names
from agents.registry import resolve_agent
from bandit_envs.basics.arguments import require, require_choice
from bandit_envs.environment.envs import make
from bandit_envs.environment.registration import IDS, real_id
from bandit_envs.laws.play_costs import Free
from bandit_envs.laws.tabulated import RecordedValues
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.real import tasks
from gpbandits.evaluation.record import Checkpoints
from gpbandits.evaluation.statistics import ENOUGH
from gpbandits.experiments.study import AgentEntry, EnvironmentEntry, Study

REFERENCE = "random"  # scores 0 in every environment
# Its first 200 of 600 rounds have the smallest data sets, on which agents hardly differ from random play.
WHOLE = "GPBandit-GrowingDataSVM-v0"
REAL = "GPBandit-Real-v2"  # whose tasks are a suite of their own
LEARNERS = "sb3-"  # prefix of learners, which would take longer than all other agents together

CLASSES = {  # classes of problems, by their main feature
    "context": "contextual",
    "delay": "delayed",
    "change": "changing",
    "constraint": "constrained",
    "budget": "budgeted",
    "duel": "duels",
    "outcome": "clicks",
}

ROUNDS = 200  # of a trial of the ids; a real task is played to its own horizon
# Without a Gaussian process: they enter every real task, also where they lack a feature, as random play does.
REFERENCES = ("epsilon-greedy", "local-search", "lin-ucb", "forest-thompson", "forest-ei")
# On real tasks: the classics and a peer of another library, and for what else a task has what docs/agents.md
# begins with and its rivals.
SELECTED = {
    "": ("gp-ucb", "gp-ts", "gp-ei", "gp-bucb", "gp-agent", "optuna-tpe", *REFERENCES),
    "delay": ("gp-bts", "gp-ucb-sdf"),
    "constraint": ("constrained-ei", "config", "pdcbo"),
    "budget": ("ratio-ucb", "ei-per-cost"),
    "change": ("gp-ucb-cpd", "ui-tvbo", "sw-gp-ucb"),
}
JOINT = ("gp-ts", "gp-bts")  # sample the posterior at all arms together
MOST = 5000  # arms of a real task on which these enter unnamed
_CUBIC = f"the time of a sample grows with the cube of the arms, which are more than {MOST}; --agent names it"

SUITES = ("ids", "real")  # environments of a leaderboard: the ids, or the real tasks
_EVERY = Checkpoints("every")  # the loss of each round counts, which sums over rounds would hide


class Entries(NamedTuple):
    """The entries are one study an environment, who is excluded, classes of problems, and what is cut."""

    studies: list[Study]
    excluded: list[tuple[str, str]]  # (agent or environment, reason)
    classes: dict[str, str]  # label of an environment -> name of its class
    cuts: dict[str, str]  # label of an environment that is played shorter than it is -> by how much


def enter(
    trials: int = ENOUGH,
    horizon: int | None = None,
    environments: Sequence[str] = (),
    agents: Sequence[str] = (),
    seed: int = 0,
    suite: str = "ids",
    within: Sequence[str] = (),
) -> Entries:
    """Pair agents and environments.

    Args:
        horizon: most rounds a trial, except for `WHOLE`; an environment's own horizon may be shorter. By
            default `ROUNDS`, and as many as a real task has.
        environments: ids, each available and, with the suite "real", of a real task; if empty, all of the
            suite that are available.
        agents: names, with options as JSON behind them where they have some, beside the reference; if empty,
            of the ids' suite all registered ones except `LEARNERS` and those of other libraries, of the real
            one those `SELECTED` for what the task has. Agents without `features` are paired with every
            environment.
        suite: of `SUITES`; where environments and agents are taken from.
        within: ids of the suite to take instead of all.
    """
    require_choice("suite", suite, SUITES)
    most = ROUNDS if horizon is None and suite == "ids" else horizon
    suites = {"ids": [each for each in IDS if each != REAL], "real": list(map(real_id, tasks()))}
    offered = suites[suite]
    for env_id in environments if suite == "real" else ():
        require(env_id in offered, "environments", f"ids such as {offered[0]} in the suite real", env_id)
    studies, excluded, classes, cuts = [], [], {}, {}
    quick = [name for name in agent_names() if not name.startswith(LEARNERS)]
    registered = [name for name in quick if not resolve_agent(name).requires]
    if not agents and suite == "ids":
        slow = f"{LEARNERS}* and optimisers of other libraries"
        excluded.append((slow, "they take longer than all others together; --agent names them"))
    for env_id in environments or within or offered:
        try:
            whole = make(env_id)
            own = whole.unwrapped.problem.horizon  # type: ignore[attr-defined]
            whole.close()
            kwargs = {"horizon": own if env_id == WHOLE else min(most or own, own)}
            env = make(env_id, **kwargs)
            env.reset(seed=seed)
        except (ValueError, OSError, ImportError, gym.error.Error) as error:
            if environments:  # a named environment must not be skipped
                raise
            excluded.append((env_id, _line(error)))
            continue
        problem, setting = env.unwrapped.problem, env.get_wrapper_attr("setting")  # type: ignore[attr-defined]
        demanded = features_of(problem)
        env.close()
        own_features = {"", *_budgeted_features(problem)}
        selected = [name for feature, known in SELECTED.items() if feature in own_features for name in known]
        unnamed = registered if suite == "ids" else selected
        large = suite == "real" and not agents and problem.decisions.num_arms > MOST
        entrants = []
        for entrant in map(entrant_of, sorted({*(agents or unnamed), REFERENCE})):
            name, label, options = entrant.name, entrant.label, entrant.options
            factory = resolve_agent((name, options))
            missing = factory.lacking(demanded)
            if missing and not (suite == "real" and name in REFERENCES):
                if agents:  # a named agent must not be missing without a reason
                    excluded.append((f"{label} on {env_id}", f"it does not handle {', '.join(missing)}"))
                continue
            if large and name in JOINT:
                excluded.append((f"{label} on {env_id}", _CUBIC))
                continue
            try:
                factory(setting)
            except (ValueError, TypeError, OSError, ImportError) as error:
                duels_alone = factory.declares and factory.features.duel
                if agents or setting.duel or not duels_alone:
                    excluded.append((f"{label} on {env_id}", _line(error)))
            else:
                entrants.append(entrant)
        short = label_of(env_id)
        entry, title = EnvironmentEntry(env_id, short, kwargs), f"leaderboard: {short}"
        classes[short] = class_of(problem)
        if kwargs["horizon"] < own:
            cuts[short] = cut_of(problem, own)
        studies.append(Study(title, trials, (entry,), tuple(entrants), seed, checkpoints=_EVERY))
    return Entries(studies, excluded, classes, cuts)


def label_of(env_id: str) -> str:
    """Return the label of an environment on a page, such as "Real/digits-late"."""
    return env_id.removeprefix("GPBandit-").removesuffix("-v0").removesuffix("-v2")


def cut_of(problem: Problem, whole: int) -> str:
    """Say how many of the rounds that a problem has by itself are played, and of the data sets of a task."""
    rounds = f"{problem.horizon} of {whole} rounds"
    name = problem.name.removeprefix("real: ")
    sets = problem.decisions.num_contexts
    if name in tasks() and tasks()[name].family == "changes":
        sets = len(tasks()[name].tables)
    elif name not in tasks() or tasks()[name].family != "datasets":
        return rounds
    return f"{rounds}, {ceil(sets * problem.horizon / whole)} of {sets} data sets"


def cut_notes(labels: Iterable[str], cuts: Mapping[str, str]) -> list[str]:
    """Return the note that says which of these environments are cut by the option --horizon, if some are."""
    said = [f"{label} ({cuts[label]})" for label in labels if label in cuts]
    return [f"Cut by --horizon: {', '.join(said)}."] if said else []


def entrant_of(text: str) -> AgentEntry:
    """Return the entry of an agent's name with its options as JSON behind it, if it has some.

    Example:
        >>> entrant_of('gp-agent {"belief": "censored"}').options
        {'belief': 'censored'}
    """
    name, _, rest = text.partition(" ")
    form = """a name, or a name and options as JSON such as 'gp-agent {"belief": "censored"}'"""
    try:
        options: Any = json.loads(rest or "{}")
    except ValueError:
        options = None
    require(isinstance(options, dict), "agent", form, text)
    return AgentEntry(name, text, options)


def features_of(problem: Problem) -> set[str]:
    """Return the features that an agent must handle on a problem."""
    actions = {"box" if problem.decisions.continuous else "finite"}
    return demanded_by(problem.setting()) | actions | ({"availability"} if problem.volatile else set())


def class_of(problem: Problem) -> str:
    """Return the class of problems within which agents are ranked: "real" for data, else by its main feature.

    A real task is in the class of its family. A problem with contexts and delays is "contextual"; one with
    several other features is "combined".
    """
    if problem.name.startswith("real: "):
        return tasks()[problem.name.removeprefix("real: ")].family
    if isinstance(problem.reward, RecordedValues):
        return "real"
    features = _budgeted_features(problem)
    if len(features & CLASSES.keys()) > 1 and features & {"constraint", "change", "budget"}:
        return "combined"
    return next((name for feature, name in CLASSES.items() if feature in features), "plain")


def _budgeted_features(problem: Problem) -> set[str]:
    return features_of(problem) | (set() if isinstance(problem.play_costs, Free) else {"budget"})


def unit_of_task(label: str) -> str:
    """Return what a task of this label shares its function with: its tables, or its recorded problem."""
    task = tasks()[label.removeprefix("Real/")]
    return task.problem or " ".join(task.tables)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
