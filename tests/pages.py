"""Pages of the documentation, and the scripts and stored results that they rest on."""

from __future__ import annotations

import csv
import functools
import http.server
import importlib.util
import re
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gpbandits.report.stored import read_cells, rounded
from gpbandits.reproductions.page import RESULTS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


INCLUDED = re.compile(
    r"^```{csv-table}\n:file: (\S+)\n:header-rows: 1\n(:rounded:\n)?```\n\n\[CSV\]\(\1\)$", re.MULTILINE
)


def source(page: str) -> str:
    """The text of a page as it is stored."""
    return (DOCS / page).read_text(encoding="utf-8")


def read(page: str) -> str:
    """The text of a page, with the tables in it that it includes from files."""
    return whole(DOCS / page)


def whole(page: Path) -> str:
    """The same of any page, by its path."""

    def shown(found: re.Match[str]) -> str:
        cells = read_cells(page.parent / found[1])
        header, *rows = rounded(cells) if found[2] else cells
        rule = f"|{'---|' * len(header)}"
        return "\n".join([row_of(header), rule, *map(row_of, rows)])

    return INCLUDED.sub(shown, page.read_text(encoding="utf-8"))


def row_of(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def prose(page: str) -> str:
    return " ".join(read(page).split())


def table(name: str) -> list[dict[str, str]]:
    with (DOCS / RESULTS / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


def loaded(path: str) -> Any:
    """A script of the repository as a module, by its path from the top; it may import its neighbours."""
    spec = importlib.util.spec_from_file_location(f"script_{Path(path).stem}", ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = script  # where its dataclasses look for their names
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / Path(path).parent))
        spec.loader.exec_module(script)
    return script


def told(name: str, by: str | None = None) -> tuple[ModuleType, Any, str]:
    """A paper's script, by default of the name of its table, what it reads from that, and the page's text."""
    script = loaded(f"examples/papers/{by or name}.py")
    return script, script.read(DOCS / RESULTS / f"{name}.csv"), read(f"{name}.md")


def missing(lines: list[str], page: str) -> list[str]:
    return [line for line in lines if line not in page]


NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")


def unsaid(said: Iterable[str], page: str) -> list[str]:
    """Sentences whose numbers stand in this order in no paragraph of a page, whose words may be others."""
    paragraphs = [NUMBER.findall(each) for each in re.split(r"\n\s*\n", read(page))]

    def stands(sentence: str) -> bool:
        numbers = NUMBER.findall(sentence)
        assert numbers, sentence
        return any(all(each in rest for each in numbers) for rest in map(iter, paragraphs))

    return [sentence for sentence in said if not stands(sentence)]


DRIVER, CHROMIUM = shutil.which("chromedriver"), shutil.which("chromium")
needs_browser = pytest.mark.skipif(
    not (DRIVER and CHROMIUM), reason="no chromium and chromedriver on this machine"
)


@contextmanager
def browser(
    profile: Path, width: int = 0, height: int = 844, scheme: str = "", mobile: bool = False
) -> Iterator[Any]:
    """Chromium without a window, with a profile of its own, on a screen of this size and colour scheme."""
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"):
        options.add_argument(argument)
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    try:
        if width:
            opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        if scheme:
            opened.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        yield opened
    finally:
        opened.quit()


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The address of a server of a folder, and the paths that were asked for and are not there."""
    missing: list[str] = []

    class Noting(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *_: object) -> None: ...

        def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
            missing.append(f"{code} {self.path}")
            super().send_error(code, message, explain)

    handler = functools.partial(Noting, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", missing
        finally:
            server.shutdown()


def ran(notebook: Any, folder: Path) -> Any:
    """A notebook with its outputs, run in a kernel of Jupyter; an error of a cell is raised."""
    nbclient = pytest.importorskip("nbclient", reason="needs Jupyter's client")
    pytest.importorskip("ipykernel", reason="needs a kernel of Jupyter")
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}})
    return client.execute()


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
