"""The page that shows every reproduced figure: the paper's words, our numbers, and why they differ."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from gpbandits.evaluation.files import write_whole
from gpbandits.experiments import Store
from gpbandits.experiments.folder import CELLS
from gpbandits.report.holdings import Holdings
from gpbandits.reproductions.base import Part, Reproduction, Results

SHOWN = 2  # figures of a section: a study of ten environments has twenty
_TOP = """# Reproductions

<!-- Made by `gpbandits reproduce --page`; edit the texts in `gpbandits/reproductions`. -->

What the papers report, figure by figure, beside what the suite measures. Orders come first, sizes second; a
constant that was chosen so that curves come out is named beside them, and deviations are findings. Numbers
are means over trials at the last round with 95 % bootstrap intervals; differences are paired by trial, and
an order *holds* where the interval of its difference lies above 0. How often confidence bands fail is in
[calibration.md](calibration.md); what delayed feedback, long-term constraints and changing rewards show,
claim by claim, in [studies-delayed.md](studies-delayed.md),
[studies-constraints.md](studies-constraints.md) and [studies-changes.md](studies-changes.md).
"""
_OUTDATED = "Earlier versions of the code computed {} of the cells that are shown."


class Kept:
    """What folders hold of parts of studies, by whatever code computed it; nothing is computed.

    The attribute `outdated` counts the cells that other code than the installed one computed: the page must
    be possible after a line of code has changed, and say so.
    """

    def __init__(self) -> None:
        self.outdated = 0

    def __call__(self, part: Part, folder: Path) -> Results:
        """The results of a part in a folder."""
        held = Holdings(part.shown, Store(folder / CELLS))
        self.outdated += held.outdated
        found = [(environment, held.result(environment)) for environment in part.shown.environments]
        return [(environment, result) for environment, result in found if result is not None]


def write_page(page: Path, reproductions: Iterable[Reproduction], folder: Path, quick: bool) -> None:
    """Write the page, and its figures into `figures/reproductions` beside it.

    Args:
        page: the Markdown file.
        reproductions: that have a section, in order.
        folder: of their results; figures without any get the paper's words alone.
        quick: whether it shows the short versions.
    """
    sections, paper, kept = [_TOP], "", Kept()
    for reproduction in reproductions:
        if reproduction.paper != paper:
            paper = reproduction.paper
            sections.append(f"## {paper}")
        sections.append(_section(reproduction, page.parent, folder, quick, kept))
    if kept.outdated:
        sections.insert(1, _OUTDATED.format(kept.outdated))
    write_whole(page, ("\n\n".join(section.strip() for section in sections) + "\n").encode())


def _section(reproduction: Reproduction, place: Path, folder: Path, quick: bool, kept: Kept) -> str:
    findings = reproduction.run(folder, quick, kept)
    command = f"`gpbandits reproduce {reproduction.name}{' --quick' if quick else ''}`"
    figures = place / "figures" / "reproductions"
    figures.mkdir(parents=True, exist_ok=True)
    links = []
    for name, figure in islice(findings.figures.items(), SHOWN):
        figure.savefig(figures / f"{name}.png", dpi=80)
        links.append(f"![{reproduction.title}](figures/reproductions/{name}.png)")
    parts = (
        f"### {reproduction.title}",
        f"{command} reproduces it.",
        f"**The paper reports:** {reproduction.reports}",
        findings.text or "*Not computed for this page.*",
        *links,
        f"**Where we differ, and why:** {reproduction.differs}",
    )
    return "\n\n".join(parts)
