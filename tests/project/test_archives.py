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
from gpbandits.evaluation.parquet import read_with_metadata
from gpbandits.report.archive import read_archived
from gpbandits.report.entrants import REFERENCE, enter

ARCHIVE = DOCS / "results" / "real"

FAMILIES = {task.family: name for name, task in reversed(tasks().items())}  # the first task of each


def cases():
    for family, name in FAMILIES.items():
        task = tasks()[name]
        package = package_of(task.tables[0]) if task.tables else None
        marks = [pytest.mark.needs_packages(package)] if package else []
        marks += [pytest.mark.needs_data(*data_files(task.problem))] if task.problem else []
        yield pytest.param(name, id=family, marks=marks)


def test_every_archived_file_says_of_which_task_it_is():
    said = {path.stem: read_with_metadata(path, Result)[1].get("id") for path in ARCHIVE.glob("*.parquet")}
    assert said == {name: real_id(name) for name in tasks()}


@pytest.mark.parametrize("name", list(cases()))
def test_others_can_be_ranked_beside_the_archived_trials_of_each_family(name):
    trials = Result.load(ARCHIVE / f"{name}.parquet").num_trials
    (study,) = enter(trials, environments=[real_id(name)], agents=[REFERENCE], suite="real").studies
    assert REFERENCE in read_archived(ARCHIVE, study).agents


def test_the_five_tasks_were_played_as_they_are_in_the_archive_of_all():
    paths = sorted((DOCS / "results" / "real-five").glob("*.parquet"))
    assert len(paths) == 5
    for path in paths:
        found = {each["played"] for each in Result.load(path).origins}
        assert found == {each["played"] for each in Result.load(ARCHIVE / path.name).origins}, path.stem


@pytest.mark.parametrize("name", list(cases()))
def test_an_archived_trial_of_each_family_is_what_its_task_gives_today(name):
    """Of random play, whose actions no processor's last bit decides."""
    stored = Result.load(ARCHIVE / f"{name}.parquet")
    again = evaluate(
        real_id(name), [REFERENCE], trials=1, seed=stored.seed, env_kwargs={"horizon": stored.horizon}
    )
    for kind in ("regret", *(["hard_violation"] if stored.num_constraints else [])):
        expected, found = (each.curves(kind)[REFERENCE][0] for each in (stored, again))
        np.testing.assert_allclose(found[stored.rounds - 1], expected, rtol=1e-9, atol=1e-9)
