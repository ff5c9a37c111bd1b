"""Other libraries agree with ours, round by round, and the page on performance says what was measured."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

pytestmark = pytest.mark.filterwarnings("ignore")  # what other libraries say of their own dependencies


@pytest.fixture
def module(monkeypatch):
    """Import a module of the benchmarks."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # which they set
    return importlib.import_module


@pytest.mark.parametrize("trials", [1, 3])
def test_other_libraries_would_play_our_arms(module, trials):
    peers, loops, models = (module(name) for name in ("peers", "peer_loops", "peer_models"))
    workload = peers.Workload("", loops.Loop(loops.grid(60, 1), 30, trials), asked=30, timed=2, checked=12)
    ours, *others = peers.finite("small", workload, models.installed(), repeats=1)
    assert ours.way == peers.OURS
    assert [row.way for row in others] == [library.name for library in models.installed()]
    rounds = len({*range(loops.FIRST, workload.checked), *loops.middles(workload.asked, workload.timed)})
    assert all(row.check == f"{rounds} of {rounds} arms agree" for row in others)


def test_other_libraries_draw_from_our_posterior(module):
    peers, loops, models = (module(name) for name in ("peers", "peer_loops", "peer_models"))
    loop = loops.Loop(loops.grid(60), 20, thompson=True)
    played = loops.play(loop)
    for library in models.installed():
        assert loops.distance(library.make(), loop, played, 15) < 1e-6
    rows = list(peers.finite("small", peers.Workload("", loop, 20, 1, 0), models.installed(), 1))
    assert all(row.microseconds > 0 for row in rows)


def test_another_choice_is_told_with_its_round_and_by_how_much_it_is_better(module):
    peers, loops = module("peers"), module("peer_loops")
    played = loops.play(loops.Loop(loops.grid(20), 8))
    own = {t: loops.Choice(int(played.arms[t, 0]), 0.0, 1.0) for t in (3, 5, 6)}
    assert peers.agreement(own, played) == "3 of 3 arms agree"
    other = int(played.arms[5, 0]) + 1
    told = peers.agreement(own | {5: loops.Choice(other, 2e-9, 1.0)}, played)
    assert told == f"2 of 3 arms agree; in round 5 arm {other} scores 2e-09 more than ours"


def test_an_absent_library_is_left_out_with_a_word(module):
    peers, models = module("peers"), module("peer_models")
    told = peers.left_out(())
    assert told == [f"{library.name}: it is not installed." for library in models.LIBRARIES]


def test_the_page_on_performance_says_what_its_results_say(module):
    page = module("peer_page")
    assert page.page(page.read()) == page.PAGE.read_text(encoding="utf-8")
