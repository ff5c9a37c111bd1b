"""Other libraries agree with ours, round by round, and the page on performance says what was measured."""

import importlib
from pathlib import Path

import pytest
from pages import DOCS, source

from gpbandits.report.stored import read_cells, tables_in, with_files

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

pytestmark = pytest.mark.filterwarnings("ignore")  # what other libraries say of their own dependencies


@pytest.fixture
def module(monkeypatch):
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


def test_the_page_on_performance_says_what_its_results_say(module):
    page = module("peer_page")
    text = page.page(page.read())
    assert with_files(text, page.FILES) == source(page.PAGE.name)
    assert tables_in(text) == [read_cells(DOCS / file) for file in page.FILES]
