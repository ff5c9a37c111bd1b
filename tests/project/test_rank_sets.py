"""Sets of ranks cover and have power in the stored simulation, which its script repeats."""

import csv

from pages import DOCS, loaded

script = loaded("benchmarks/rank_sets.py")

with (DOCS / "results" / "rank_sets.csv").open(newline="", encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))
SKEWED = ("lognormal", "15 % stuck")


def test_all_sets_hold_the_true_ranks_together_in_95_of_100_cases_but_where_skewed_laws_differ_hundredfold():
    for row in ROWS:
        assert float(row["coverage, graded means"]) >= 0.95
        if row["law"] not in SKEWED or row["spreads"] != "to 100":
            assert float(row["coverage, equal means"]) >= 0.95, row


def test_at_least_80_percent_of_what_t_tests_with_bonferronis_correction_separate_is_separated():
    assert all(float(row["power"]) >= 0.8 for row in ROWS)


def test_the_script_finds_the_like_on_a_few_boards():
    _, graded, power = script.measured("t, 3 degrees", "equal", 3)
    assert graded == 1.0
    assert power > 0.8
