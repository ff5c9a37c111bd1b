"""What the page of readings says of stopping, clicks and duels is what the stored results say."""

import csv
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "readings.md").read_text(encoding="utf-8")
ROWS = {
    name: list(csv.DictReader((ROOT / "docs" / "results" / f"{name}.csv").read_text("utf-8").splitlines()))
    for name in ("stopping", "clicks", "clicks_bands", "duels")
}


def row(name, **where):
    """The one row of a file of results with these values."""
    (found,) = [each for each in ROWS[name] if all(each[key] == value for key, value in where.items())]
    return found


def mean(found, column, digits, error=None):
    said = f"{float(found[column]):.{digits}f}"
    return said if error is None else f"{said} ± {float(found[error]):.{digits}f}"


def last_cell(claim):
    """Our figure in the line of a claim."""
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {claim} |")]
    return line.split(" | ")[-1].removesuffix(" |")


def test_figures_of_stopping_are_those_of_the_results():
    stopped = {
        p: row("stopping", setting="prior", player=p, rule="kg 0.01") for p in ("kg-per-cost", "gp-ei")
    }
    other = {r: row("stopping", setting="prior", player="gp-ei", rule=r) for r in ("ei 0.01", "gap, beta/5")}
    held = row("stopping", setting="prior", player="gp-ei", rule="regret bound 0.9")
    by_gradient = "stopped by `knowledge-gradient`: plays"
    assert last_cell(f"`kg-per-cost`, {by_gradient}") == mean(stopped["kg-per-cost"], "stop", 1)
    assert last_cell("`gp-ei`, stopped likewise: plays") == mean(stopped["gp-ei"], "stop", 1)
    for each in stopped.values():
        assert f"| {mean(each, 'adjusted', 4, 'adjusted_se')} |" in PAGE
    by_ei = "`gp-ei`, stopped by `expected-improvement`: plays"
    assert last_cell(by_ei) == mean(other["ei 0.01"], "stop", 1)
    assert last_cell("`gap` with a fifth of beta: plays of `gp-ei`") == mean(other["gap, beta/5"], "stop", 1)
    broken = last_cell("`regret-bound` breaks its promise of 90 %")
    assert broken == f"{held['broken']} of {held['stopped']}"


def test_figures_of_clicks_are_those_of_the_results():
    for claim, agent in {
        "Laplace-UCB, w = 1: regret at m0 = 0": "Laplace-UCB, w = 1",
        "the moment-matched UCB there": "Gaussian moment-matched, UCB w = 2",
    }.items():
        assert last_cell(claim) == mean(row("clicks", base="0", agent=agent), "regret", 2, "se")
    failed = " and ".join(f"{each['failed']} of {each['runs']}" for each in ROWS["clicks_bands"])
    assert last_cell("the mixture band of clicks fails, delta = 0.1") == failed


def test_figures_of_duels_are_those_of_the_results():
    for claim, rule in {
        "MaxMinLCB, w = 2: average regret at B = 3": "MaxMinLCB, w = 2",
        "the RUCB-like rule, w = 1, there": "RUCB-like, w = 1",
    }.items():
        assert last_cell(claim) == mean(row("duels", bound="3", rule=rule), "average", 2, "average_se")
    stuck = [float(row("duels", bound=bound, rule="RUCB-like, w = 1")["stuck"]) for bound in "36"]
    assert last_cell("that rule gets stuck") == " and ".join(f"{100 * each:.0f} %" for each in stuck)
    bands = [row("duels", bound=bound, rule="MaxMinLCB, mixture band") for bound in "36"]
    failed = " and ".join(f"{each['violated']} of {each['trials']}" for each in bands)
    assert last_cell("the mixture band of pairs fails, delta = 0.1") == failed
