"""The pages on boxes and on speed say what the stored results and the code say."""

import csv
from pathlib import Path

from agents.agent.gp_agent import TIE
from agents.model.defaults import FIRST_NOISE_SPREAD
from agents.posteriors.weight_space import SEARCHED

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs" / "boxes.md").read_text(encoding="utf-8").split())
with (ROOT / "docs" / "results" / "dimensions.csv").open(encoding="utf-8") as file:
    ROWS = {(row["function"], int(row["d"]), row["method"]): row for row in csv.DictReader(file)}
MODE, ONE, DEFAULT, BOTORCH = "gp-ei", "gp-ei, 0.2 of a side", "the tuner's default", "BoTorch LogEI"
FUNCTIONS = {(function, dim) for function, dim, _ in ROWS}


def median(function, dim, method):
    return float(ROWS[function, dim, method]["median"])


def test_one_length_scale_fails_where_few_of_many_features_count():
    one, mode = ([median("few count", dim, method) for dim in (50, 100)] for method in (ONE, MODE))
    assert "{:g} and {:g} standard deviations from the best".format(*one) in PAGE
    assert "starts at the mode {:g} and {:g}.".format(*mode) in PAGE


def test_and_is_ahead_where_all_count_alike():
    methods = {method for *_, method in ROWS if method.startswith("gp-ei")}
    ahead = [
        dim
        for function, dim in FUNCTIONS
        if function == "bowl" and median("bowl", dim, ONE) == min(median("bowl", dim, x) for x in methods)
    ]
    assert {dim for _, dim in FUNCTIONS if dim > 2} - set(ahead) == {10}
    assert "the least of `gp-ei` from d = 6 on, but at 10" in PAGE


def test_the_default_of_a_tuner_stands_beside_botorch():
    ahead = sum(median(*each, DEFAULT) < median(*each, BOTORCH) for each in FUNCTIONS)
    assert f"a smaller median than BoTorch in {ahead} of {len(FUNCTIONS)} rows" in PAGE
    ratios = [float(ROWS[*each, BOTORCH]["ms"]) / float(ROWS[*each, DEFAULT]["ms"]) for each in FUNCTIONS]
    least, most = round(min(ratios)), round(max(ratios))
    assert f"takes {least} to {most} times less time a round" in PAGE
    farthest = min(median("bowl", dim, method) for _, dim, method in ROWS if dim >= 50)
    assert f"all are {farthest:.1f} standard deviations or more" in PAGE


def test_botorch_is_compared_as_the_page_says():
    behind = sum(median(*each, BOTORCH) > median(*each, MODE) for each in FUNCTIONS)
    assert f"in {behind} of {len(FUNCTIONS)} rows" in PAGE
    ratios = [float(ROWS[*each, BOTORCH]["ms"]) / float(ROWS[*each, MODE]["ms"]) for each in FUNCTIONS]
    assert f"takes {min(ratios):.2g} to {max(ratios):.2g} times as long" in PAGE
    assert {row["seeds"] for row in ROWS.values()} == {"5"}


def test_the_prior_on_the_noise_does_best_and_worst_where_the_page_says():
    with (ROOT / "docs" / "results" / "noise_priors.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    spreads = [name for name in rows[0] if name.startswith("spread")]
    assert f"spread {FIRST_NOISE_SPREAD:g}" in spreads
    assert f"`fit_noise_spread` ({FIRST_NOISE_SPREAD:g} where the noise is neither given" in PAGE
    assert "BoTorch's 1, for an amplitude that is fixed, does best on Ackley's and worst on Branin's" in PAGE
    for row in rows:
        found = {name: float(row[name].split()[0]) for name in spreads}
        best, worst = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
        assert row["function"] != "ackley" or best == "spread 1"
        assert row["function"] != "branin" or worst == "spread 1"


def test_pages_name_the_points_that_are_searched():
    speed, large = (
        (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("performance", "large")
    )
    assert f"From {SEARCHED:,} points of a product of kernels on" in speed
    assert f"to {TIE:.0e} of a prior".replace("e-0", "e-") in speed
    assert f"GP-UCB on {SEARCHED:,} points or more" in large
