"""Checks that a study can run at all, and counts of how far it has come."""

from collections.abc import Iterator
from contextlib import contextmanager
from traceback import format_exception_only
from typing import NamedTuple

import gymnasium as gym

from agents.registry import resolve_agent
from bandit_envs.basics.arguments import require
from gpbandits.evaluation.columns import require_columns
from gpbandits.evaluation.loop import trial_seeds
from gpbandits.evaluation.plain import cut
from gpbandits.evaluation.play import Stage
from gpbandits.evaluation.provenance import environment_spec
from gpbandits.experiments.cells import Survey
from gpbandits.experiments.store import Store
from gpbandits.experiments.study import Cell, Study
from gpbandits.experiments.work import LONGEST, within


def check_study(study: Study, time_limit: float | None = None) -> None:
    """Make every environment and every agent for it once, within a limit each; an error names its entry."""
    if study.columns:
        require_columns(study.columns)
    for environment in study.environments:
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
        raise ValueError(f"{entry} cannot be made: {cut(str(error), LONGEST)}") from error
    except BaseException as error:  # a constructor may raise anything, and exit
        said = "".join(format_exception_only(error)).strip()
        raise ValueError(f"{entry} cannot be made: {cut(said, LONGEST)}") from error


class CellCount(NamedTuple):
    """A count divides the trials of one agent on one environment by their state."""

    done: int
    failed: int  # the last attempt raised; the next run repeats it
    missing: int  # not attempted yet

    @property
    def total(self) -> int:
        """Return the number of trials in the study."""
        return sum(self)


def count_all(study: Study, known: Survey) -> dict[tuple[str, str], CellCount]:
    """Count the trials of each agent on each environment, by their labels."""
    done, failed = known.trials(known.valid), known.trials(known.failed)
    pairs = [(agent.label, place.label) for agent in study.agents for place in study.environments]
    return {
        pair: CellCount(done[pair], failed[pair], study.trials - done[pair] - failed[pair]) for pair in pairs
    }


def failures(study: Study, store: Store, known: Survey | None = None) -> list[tuple[Cell, str]]:
    """Return the cells whose last attempt raised, with the tracebacks; `known` is a survey made just now."""
    known = store.survey(study) if known is None else known
    failed = [cell for cell, key in zip(known.cells, known.keys, strict=True) if key in known.failed]
    attempts = [(cell, store.failure(cell)) for cell in failed]
    return [(cell, failure) for cell, failure in attempts if failure is not None]
