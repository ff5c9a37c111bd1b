"""A quick study has at most 5 trials and 1000 rounds, and is otherwise unchanged."""

import dataclasses

from bandit_envs.environment.making import make
from gpbandits.experiments import EnvironmentEntry, Study

TRIALS, ROUNDS = 5, 1000
SUFFIX = "-quick"  # appended to the names of shortened studies


def shortened(study: Study, rounds: int = ROUNDS) -> Study:
    """Return the study with at most `TRIALS` trials of at most so many rounds."""
    environments = tuple(_shortened(entry, rounds) for entry in study.environments)
    name, trials = f"{study.name}{SUFFIX}", min(study.trials, TRIALS)
    return dataclasses.replace(study, name=name, trials=trials, environments=environments)


def _shortened(entry: EnvironmentEntry, rounds: int) -> EnvironmentEntry:
    env = make(entry.id, **entry.kwargs)
    env.reset(seed=0)
    horizon = min(env.get_wrapper_attr("setting").horizon, rounds)
    env.close()
    return dataclasses.replace(entry, kwargs={**entry.kwargs, "horizon": horizon})
