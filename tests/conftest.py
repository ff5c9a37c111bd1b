"""What all tests share."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import scipy.linalg  # noqa: F401 (loads the other BLAS, for the header)
from hypothesis import settings
from threadpoolctl import threadpool_info

from bandit_envs.data import find
from bandit_envs.data.files import find_wheel

HERE = Path(__file__).parent
os.environ.setdefault("MPLBACKEND", "Agg")  # figures are drawn without a screen

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # where a shell started the tests in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine must not fail a test, and a failure must come back when it is run again.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")


MARKERS = (
    "needs_data(*files): skip where a public data file is neither in $GPBANDITS_DATA nor cached",
    "needs_packages(*names): likewise of the wheels of packages that hold measurements",
    "data: what needs such files; `make test-data` runs it",
    "long: a case takes two thirds of a second or more; `make test-long` runs it, `make test` does not",
    "further: one more agent of a factory shape, environment of a kind, or case among many; likewise",
    "sampled(n): so many of its cases, evenly spread over all, are quick; the others are further ones",
    "typical: one of six agents, whose shapes most agents have; `make quick` runs their contracts",
    "alone: starts, counts or kills processes; `make test-long` runs these one after another",
    "numerics: what another processor rounds otherwise; `make test-numerics` runs them as on another one",
)
# The folders of tests whose results rest on linear algebra.
NUMERICS = (
    *("agents/acquisition", "agents/agent", "agents/beliefs", "agents/box", "agents/kernels"),
    *("agents/model", "agents/objectives", "agents/posteriors", "agents/restarts", "agents/widths"),
    *("bandit_envs/kernels", "bandit_envs/laws", "bandit_envs/problem", "gpbandits/theory"),
)
# The rooms and files whose long tests start, count or kill processes.
ALONE = (
    *("project/test_slurm", "project/test_clusters", "project/test_page_commands"),
    *("gpbandits/board", "gpbandits/commands", "gpbandits/experiments", "gpbandits/optuna"),
    *("gpbandits/evaluation/test_isolation", "bandit_envs/environment/test_vector_libraries"),
    *("agents/tuning/test_optimise", "gpbandits/test_orphans"),
)
# The files of which some tests look at the built site: one process runs them, which builds it once.
OF_THE_SITE = ("docs", "gallery", "pages_on_screens", "reference", "site", "versions")
SITE = tuple(f"project/test_{name}." for name in OF_THE_SITE)
# What `make test-long` begins with: long files come early, so that processes end at about one time.
FIRST = (SITE, "project", "gpbandits", "agents/test_", "")


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if "OPENBLAS_CORETYPE" in os.environ:  # an unknown one is silently replaced
        used = {library["architecture"] for library in threadpool_info() if "architecture" in library}
        terminalreporter.write_line(f"linear algebra as on {', '.join(sorted(used))}")


def room_of(item: pytest.Item) -> str:
    return item.path.relative_to(HERE).as_posix()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        room = room_of(item)
        if room.startswith(NUMERICS):
            item.add_marker(pytest.mark.numerics)
        if room.startswith(ALONE):
            item.add_marker(pytest.mark.alone)
        needs = (*item.iter_markers("needs_data"), *item.iter_markers("needs_packages"))
        if any(marker.args for marker in needs):
            item.add_marker(pytest.mark.data)
        if "site" in getattr(item, "fixturenames", ()) and not room.startswith(SITE):
            raise pytest.UsageError(f"{room} looks at the site and must be among OF_THE_SITE")
    sample_cases(items)
    items.sort(key=lambda item: next(i for i, start in enumerate(FIRST) if room_of(item).startswith(start)))


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()  # tests live to the end: no later search for garbage looks at them, which takes half a second


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `--dist loadfile` the files of the site count as one."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class FilesAndSite(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "the site" if file.removeprefix("tests/").startswith(SITE) else file

    return FilesAndSite(config, log)


def sample_cases(items: list[pytest.Item]) -> None:
    """Mark cases of tests that are sampled as further ones, but for some that are evenly spread over all."""
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("further"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in tests.values():
        (most,) = cases[0].get_closest_marker("sampled").args  # type: ignore[union-attr]
        spread = {round(i * (len(cases) - 1) / max(most - 1, 1)) for i in range(most)}
        for i in set(range(len(cases))) - spread:
            cases[i].add_marker(pytest.mark.further)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs_data"):
        missing = [file for file in marker.args if find(file) is None]
        if missing:
            pytest.skip(
                f"{', '.join(missing)} not on this machine; set GPBANDITS_DATA to the folder that has it"
            )
    for marker in item.iter_markers("needs_packages"):
        if missing := [name for name in marker.args if find_wheel(name) is None]:
            pytest.skip(
                f"the wheel of {', '.join(missing)} is not on this machine; its first use downloads it"
            )


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave files of figures empty: drawing one takes longer than computing a small study."""
    monkeypatch.setattr("gpbandits.report.page.save_figure", lambda figure, path: Path(path).touch())
