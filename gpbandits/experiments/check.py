"""A study is checked before it runs: every environment and every agent for it must be constructible."""

from collections.abc import Iterator
from contextlib import contextmanager
from traceback import format_exception_only

import gymnasium as gym

from agents.registry import resolve_agent
from bandit_envs.basics.arguments import require
from gpbandits.evaluation.loop import trial_seeds
from gpbandits.evaluation.play import Stage
from gpbandits.experiments.limits import within
from gpbandits.experiments.provenance import environment_spec
from gpbandits.experiments.study import EnvironmentEntry, Study


def check_study(study: Study, time_limit: float | None = None) -> None:
    """Make every environment and every agent for it once; an error names the entry that cannot be made.

    Args:
        study: the study to check.
        time_limit: seconds that making one of them may take, as for `run`.
    """
    for environment in study.environments:
        _check_environment(study, environment, time_limit)


def _check_environment(study: Study, environment: EnvironmentEntry, time_limit: float | None) -> None:
    with naming(f"environment {environment.label!r}", time_limit):
        environment_spec(environment.id)
        env = Stage(environment.id, environment.kwargs).env
        _, info = env.reset(seed=trial_seeds(study.seed, 0)[0])
        require("oracle" in info, "oracle", "on: a study scores by it", False)
        setting = env.get_wrapper_attr("setting")
    for agent in study.agents:
        with naming(f"agent {agent.label!r} for {environment.label!r}", time_limit):
            resolve_agent((agent.name, agent.options))(setting)
    env.close()


@contextmanager
def naming(entry: str, time_limit: float | None = None) -> Iterator[None]:
    """Turn an error or a timeout in the block into a ValueError that this entry cannot be made."""
    try:
        with within(time_limit, "it"):
            yield
    except KeyboardInterrupt:
        raise
    except (ValueError, TypeError, AttributeError, OSError, ImportError, gym.error.Error) as error:
        raise ValueError(f"{entry} cannot be made: {error}") from error
    except BaseException as error:  # a constructor may raise anything, and exit
        said = "".join(format_exception_only(error)).strip()
        raise ValueError(f"{entry} cannot be made: {said}") from error
