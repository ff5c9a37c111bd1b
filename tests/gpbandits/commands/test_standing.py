"""What a terminal shows while cells are computed."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from types import SimpleNamespace as Some

import numpy as np

from gpbandits.commands.progress import Bars, Standing, repeat_failed
from gpbandits.commands.ranking import leaderboard


def outcome(label, regret):
    return Some(regret=np.array(regret), cell=Some(environment=Some(label="e"), agent=Some(label=label)))


def test_the_least_mean_regret_of_all_trials_leads():
    standing = Standing()
    assert str(standing) == ""
    for label, regret in (("a", [4.0]), ("b", [3.0, 3.0]), ("a", [0.0, 0.5])):
        standing.add(outcome(label, regret))
    assert str(standing) == "mean regret on e (trials of this run): a 1.50 (3), b 3.00 (2)"


def test_cells_may_end_while_it_is_read(monkeypatch):
    standing, concatenate = Standing(), np.concatenate
    standing.add(outcome("first", [1.0]))

    def meanwhile(values):
        standing.add(outcome("another", [2.0]))
        return concatenate(values)

    monkeypatch.setattr(np, "concatenate", meanwhile)
    assert str(standing) == "mean regret on e (trials of this run): first 1.00 (1)"
    monkeypatch.undo()
    assert str(standing) == "mean regret on e (trials of this run): first 1.00 (1), another 2.00 (1)"


def test_once_all_is_there_the_table_speaks():
    bars = Bars()
    task = bars.add_task("study", total=1)
    bars.standing.add(outcome("a", [4.0]))
    assert any("mean regret on e" in str(each) for each in bars.get_renderables())
    bars.advance(task)
    assert not any("mean regret on e" in str(each) for each in bars.get_renderables())


def test_a_leaderboard_is_not_written_into_a_user_s_pages():
    assert signature(leaderboard).parameters["out"].default == Path("leaderboard")


def test_one_failure_is_a_cell_and_several_are_cells():
    assert repeat_failed(1) == "1 cell failed; run the same command again to repeat it alone."
    assert repeat_failed(2) == "2 cells failed; run the same command again to repeat only these."
