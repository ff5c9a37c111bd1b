"""The page of reproductions shows each figure with the paper's claims, our numbers, and the differences.

Results are cut to what the page reads, so that it can be made again from them; a test compares the two.
Tables are files beside the results of their figure, which the page includes.
"""

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from bandit_envs.basics.files import write_whole
from gpbandits.evaluation.result import Result
from gpbandits.experiments import Store, Study
from gpbandits.experiments.store import CELLS
from gpbandits.report.holdings import Holdings
from gpbandits.report.stored import Cells, included, tables_in, with_files, write_cells
from gpbandits.reproductions import REPRODUCTIONS
from gpbandits.reproductions.markdown import verdict_line
from gpbandits.reproductions.study_figure import (
    SUFFIX,
    Compute,
    Findings,
    Part,
    Reproduction,
    Results,
    StudyFigure,
)
from gpbandits.reproductions.verdicts import FEWEST

RESULTS = "results"  # folder beside the page
VERDICTS = f"{RESULTS}/reproductions.csv"  # on all claims
SHOWN = 2  # most figures of a section, since a study of ten environments has twenty
DPI = 160  # of figures, so that they can be enlarged
_TOP = """# Reproductions

<!-- Made by `gpbandits reproduce --page`; edit the texts in `gpbandits/reproductions`. -->

This page is for readers of the papers. It lists the claims of each figure in the papers' order with a
verdict, our measurements, and where we differ from the paper; the command under a title computes the
figure. Numbers are means over trials at the last round with 95 % bootstrap intervals. Two agents are
compared on the same trials by a sign-flip test (Fisher 1935) at level 5 %, corrected for the number of
comparisons of a figure (Holm 1979), which keeps its level where regret is skewed and trials are few; the
intervals do not. p is shown where it is near the level. An order *holds* if the difference is significant
with the claimed sign, and is *reversed* if it has the other sign on at least {fewest} trials; otherwise
there is no significant difference (n.s.). That two agents are alike holds if no difference is significant.
Powers and shares of trials are judged by their intervals, without a correction. Our choices where a paper
is silent are in [readings](readings.md), failure rates of confidence bands in
[calibration](calibration.md).
"""


def kept(part: Part, folder: Path) -> Results:
    """Return the stored results of a part of a study by the installed code, without computing any."""
    held = Holdings(part.shown, Store(folder / CELLS), by_installed=True)
    found = [(environment, held.result(environment)) for environment in part.shown.environments]
    return [(environment, result) for environment, result in found if result is not None]


def write_page(page: Path, reproductions: Sequence[Reproduction], folder: Path, quick: bool) -> None:
    """Write the page, its figures into `figures/reproductions` beside it, tables and numbers into `results`.

    Figures without results of the installed code in the folder show only the claims.
    """
    compute = condensing(kept, Condensed(page.parent / RESULTS))
    found = [(each, each.run(folder, quick, compute)) for each in reproductions]
    figures = page.parent / "figures" / "reproductions"
    figures.mkdir(parents=True, exist_ok=True)
    for _, findings in found:
        for name in islice(findings.figures, SHOWN):
            findings.figures[name].savefig(figures / f"{name}.png", dpi=DPI)
    for file, cells in page_tables(found).items():
        write_cells(cells, page.parent / file)
    write_whole(page, page_text(found, quick).encode())


def page_tables(found: Sequence[tuple[Reproduction, Findings]]) -> dict[str, Cells]:
    """Return the tables that the page includes, by their files' paths from the page."""
    rows = [[_link(each), verdict_line(findings.judged)] for each, findings in found if findings.judged]
    return {VERDICTS: [["figure", "verdicts on its claims"], *rows]} | {
        file: cells
        for each, findings in found
        for text, files in _texts(each, findings)
        for file, cells in zip(files, tables_in(text), strict=False)
    }


def page_text(found: Sequence[tuple[Reproduction, Findings]], quick: bool) -> str:
    """Return the page in Markdown, which includes its `page_tables`."""
    sections, paper = [_TOP.format(fewest=FEWEST), included(VERDICTS)], ""
    for reproduction, findings in found:
        if reproduction.paper != paper:
            paper = reproduction.paper
            sections.append(f"## {paper}")
        sections.append(_section(reproduction, findings, quick))
    return "\n\n".join(section.strip() for section in sections) + "\n"


def _link(reproduction: Reproduction) -> str:
    """Return a link to the section, whose anchor GitHub and MyST derive from the title."""
    anchor = re.sub(r"[^\w\- ]", "", reproduction.title.lower()).replace(" ", "-")
    return f"{reproduction.paper}, [{reproduction.number}](#{anchor})"


def _section(reproduction: Reproduction, findings: Findings, quick: bool) -> str:
    command = f"`gpbandits reproduce {reproduction.name}{' --quick' if quick else ''}`"
    parts = (
        f"### {reproduction.title}",
        command,
        *(with_files(text, files) for text, files in _texts(reproduction, findings)),
        *(
            f"![{_shows(reproduction, name)}](figures/reproductions/{name}.png)"
            for name in islice(findings.figures, SHOWN)
        ),
        f"**Differences:** {reproduction.differs}",
    )
    return "\n\n".join(filter(None, parts))


def _texts(reproduction: Reproduction, findings: Findings) -> list[tuple[str, list[str]]]:
    """Return claims and numbers of a section, and the files of the tables in each."""
    numbers = findings.text if findings.figures else "*Not computed for this page.*"
    place = f"{RESULTS}/{reproduction.name}"
    texts = ((findings.claims, ("tests",)), (numbers, ("numbers", "detections")))
    return [(text, [f"{place}/{stem}.csv" for stem in stems]) for text, stems in texts]


def _shows(reproduction: Reproduction, figure: str) -> str:
    """Return the text of a figure for those who do not see it, such as "Figure 1: Poisson 10 simple"."""
    rest = figure.removeprefix(reproduction.name).replace("-", " ").replace("_", " ").strip()
    return ": ".join(filter(None, (reproduction.number, rest)))


class Condensed:
    """A reader of the results that `condensing` has written, in one folder a figure."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __call__(self, part: Part, folder: Path) -> Results:
        """Return the stored results of a part; the folder of cells is not used."""
        paths = [(each, self.path(part, each.file_name)) for each in part.shown.environments]
        return [(each, Result.load(path)) for each, path in paths if path.exists()]

    def path(self, part: Part, environment: str) -> Path:
        """Return the path of the file of an environment."""
        return self.folder / part.figure / f"{environment}.parquet"


def condensing(compute: Compute, kept: Condensed) -> Compute:
    """Return a function that computes a part and stores the results that a page needs."""

    def compute_and_keep(part: Part, folder: Path) -> Results:
        results = compute(part, folder)
        for entry, result in results:
            path = kept.path(part, entry.file_name)
            path.parent.mkdir(parents=True, exist_ok=True)
            result.condensed(part.rounds).save(path, timings=False)
        return results

    return compute_and_keep


def parts_of(study: Study) -> dict[str, Study]:
    """Return the part of a study of each figure, by name, without figures that show all of it."""
    figures = [each for each in REPRODUCTIONS.values() if isinstance(each, StudyFigure)]
    named = [figure for figure in figures if study.name.removesuffix(SUFFIX) in figure.studies]
    parts = {figure.name: figure.part(study) for figure in named if figure.shows(study)}
    return {name: part for name, part in parts.items() if part != study}
