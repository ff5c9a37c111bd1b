"""The page that shows every reproduced figure: the paper's words, our numbers, and why they differ."""

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from bandit_envs.basics.files import write_whole
from gpbandits.experiments import Store
from gpbandits.experiments.folder import CELLS
from gpbandits.report.holdings import Holdings
from gpbandits.reproductions.base import Findings, Part, Reproduction, Results
from gpbandits.reproductions.condensed import Condensed, condensing
from gpbandits.reproductions.verdicts import FEWEST, table

RESULTS = "results"  # folder beside the page
SHOWN = 2  # figures of a section: a study of ten environments has twenty
DPI = 160  # of figures, which readers enlarge
_TOP = """# Reproductions

<!-- Made by `gpbandits reproduce --page`; edit the texts in `gpbandits/reproductions`. -->

What the papers report, figure by figure and claim by claim in the papers' own order, and what the code
measured when this page was made. Two agents are compared on the same trials by a sign-flip test (Fisher
1935), whose p-values are corrected for the number of comparisons of a figure (Holm 1979) and held against
5 %: the test keeps its level where regret is skewed and trials are few, which the 95 % bootstrap intervals
that stand beside it do not. An order *holds* where the difference is significant and has the claimed sign,
and is *reversed* where it has the other and there are at least {fewest} trials; else there is *no significant
difference*. A claim that two agents do the same holds as long as no difference is significant. Powers and
shares of trials are judged by their 95 % bootstrap intervals, without a correction. A constant that was
chosen so that a curve comes out is named beside the curve. What our studies take where a paper is silent is
in [readings.md](readings.md), and how often confidence bands fail in [calibration.md](calibration.md).
"""


def kept(part: Part, folder: Path) -> Results:
    """What a folder holds of a part of a study by the installed code; nothing is computed."""
    held = Holdings(part.shown, Store(folder / CELLS), by_installed=True)
    found = [(environment, held.result(environment)) for environment in part.shown.environments]
    return [(environment, result) for environment, result in found if result is not None]


def write_page(page: Path, reproductions: Sequence[Reproduction], folder: Path, quick: bool) -> None:
    """Write the page, its figures into `figures/reproductions` beside it, and its numbers into `results`.

    Args:
        page: the Markdown file.
        reproductions: that have a section, in order.
        folder: of their results; figures without any, or with results of other code, get the paper's words
            alone.
        quick: whether it shows the short versions.
    """
    compute = condensing(kept, Condensed(page.parent / RESULTS))
    found = [(each, each.run(folder, quick, compute)) for each in reproductions]
    figures = page.parent / "figures" / "reproductions"
    figures.mkdir(parents=True, exist_ok=True)
    for _, findings in found:
        for name in _shown(findings):
            findings.figures[name].savefig(figures / f"{name}.png", dpi=DPI)
    write_whole(page, page_text(found, quick).encode())


def page_text(found: Sequence[tuple[Reproduction, Findings]], quick: bool) -> str:
    """The page in Markdown."""
    sections, paper = [_TOP.format(fewest=FEWEST), _overview(found)], ""
    for reproduction, findings in found:
        if reproduction.paper != paper:
            paper = reproduction.paper
            sections.append(f"## {paper}")
        sections.append(_section(reproduction, findings, quick))
    return "\n\n".join(section.strip() for section in sections) + "\n"


def _overview(found: Sequence[tuple[Reproduction, Findings]]) -> str:
    """Every claim of every paper with its verdict, and our reading where the paper is silent."""
    rows = [
        (_link(each), said.says, said.verdict, said.reading)
        for each, findings in found
        for said in findings.judged
    ]
    return table(("figure", "claim", "verdict", "our reading"), rows)


def _link(reproduction: Reproduction) -> str:
    """To its section, whose anchor GitHub and MyST make of the title."""
    anchor = re.sub(r"[^\w\- ]", "", reproduction.title.lower()).replace(" ", "-")
    return f"{reproduction.paper}, [{reproduction.title.partition(':')[0]}](#{anchor})"


def _section(reproduction: Reproduction, findings: Findings, quick: bool) -> str:
    command = f"`gpbandits reproduce {reproduction.name}{' --quick' if quick else ''}`"
    parts = (
        f"### {reproduction.title}",
        f"{command} reproduces it.",
        f"**Claims:**\n\n{findings.claims}",
        findings.text or "*Not computed for this page.*",
        *(f"![{reproduction.title}](figures/reproductions/{name}.png)" for name in _shown(findings)),
        f"**Where we differ, and why:** {reproduction.differs}",
    )
    return "\n\n".join(parts)


def _shown(findings: Findings) -> list[str]:
    return list(islice(findings.figures, SHOWN))
