"""Archived trials of real tasks are played again: the tasks are still those of which the pages speak."""

import numpy as np
import pytest
from pages import DOCS

from bandit_envs.data.runs import package_of
from bandit_envs.environment.registration import real_id
from bandit_envs.problems import data_files
from bandit_envs.problems.real import tasks
from gpbandits import evaluate
from gpbandits.evaluation import Result
from gpbandits.report.entrants import REFERENCE

FAMILIES = {task.family: name for name, task in reversed(tasks().items())}  # the first task of each


def cases():
    for family, name in FAMILIES.items():
        task = tasks()[name]
        package = package_of(task.tables[0]) if task.tables else None
        marks = [pytest.mark.needs_packages(package)] if package else []
        marks += [pytest.mark.needs_data(*data_files(task.problem))] if task.problem else []
        yield pytest.param(name, id=family, marks=marks)


@pytest.mark.parametrize("name", list(cases()))
def test_an_archived_trial_of_each_family_is_what_its_task_gives_today(name):
    """Of random play, whose actions no processor's last bit decides."""
    stored = Result.load(DOCS / "results" / "real" / f"{name}.parquet")
    again = evaluate(
        real_id(name), [REFERENCE], trials=1, seed=stored.seed, env_kwargs={"horizon": stored.horizon}
    )
    for kind in ("regret", *(["hard_violation"] if stored.num_constraints else [])):
        expected, found = (each.curves(kind)[REFERENCE][0] for each in (stored, again))
        np.testing.assert_allclose(found[stored.rounds - 1], expected, rtol=1e-9, atol=1e-9)
