"""Cells of one process share what is computed of their environment, as far as the memory goes."""

import dataclasses

import numpy as np
import pytest

from gpbandits.experiments import AgentEntry, EnvironmentEntry, Study, work
from gpbandits.experiments.work import compute


def study(*sizes):
    environments = [EnvironmentEntry("GPBandit-GP-v0", f"{n}", {"num_arms": n, "horizon": 5}) for n in sizes]
    agents = (AgentEntry("gp-ucb", "gp-ucb"), AgentEntry("random", "random"))
    return Study("shared", 2, tuple(environments), agents, block_size=1)


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch):
    monkeypatch.setattr(work, "kept_stages", type(work.kept_stages)())


def test_an_environment_is_made_once_for_all_its_cells():
    stages = {id(work.stage_of(cell)) for cell in study(20).cells()}
    assert len(stages) == 1
    assert len({id(work.stage_of(cell)) for cell in study(20, 21).cells()} - stages) == 1


def test_the_oldest_makes_room_where_memory_is_short(monkeypatch):
    first, second = (next(study(n).cells()) for n in (20, 21))
    compute(first)
    monkeypatch.setattr(work, "MOST_BYTES", 100)
    stage = work.stage_of(first)  # is there
    work.stage_of(second)
    assert [*work.kept_stages.values()] == [work.stage_of(second)]
    assert work.stage_of(first) is not stage


def test_a_cell_gives_the_same_numbers_after_others_as_alone():
    cells = list(study(20).cells())
    shared = [compute(cell) for cell in cells]
    for cell, before in zip(cells, shared, strict=True):
        work.kept_stages.clear()
        for one, other in zip(compute(cell).records.values(), before.records.values(), strict=True):
            np.testing.assert_array_equal(one.regret, other.regret)
            np.testing.assert_array_equal(one.action, other.action)


def test_a_cell_that_fails_leaves_no_environment_to_the_next():
    cell = next(study(20).cells())
    failing = dataclasses.replace(cell, agent=AgentEntry("gp-ucb", "fails", {"delta": 2.0}))
    compute(cell)
    with pytest.raises(ValueError, match="delta"):
        compute(failing)
    assert not work.kept_stages


def test_memory_is_counted_once_and_wherever_it_is():
    array = np.zeros(1000)

    class Holder:
        def __init__(self):
            self.itself, self.views, self.named = self, [array, array[:5]], {"a": (array, np.zeros(10))}

    assert work.nbytes(Holder(), set()) == 8080
