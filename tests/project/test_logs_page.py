"""The page on values from logs states what the stored results say."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from pages import loaded

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "logs.md").read_text(encoding="utf-8")


def stored(name: str) -> list[dict[str, str]]:
    with (ROOT / "docs" / "results" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("name", "results"), [("log_coverage", "log_coverage"), ("open_bandit_values", "open_bandit")]
)
def test_the_tables_are_those_of_the_results(name, results):
    assert "\n".join(loaded(f"tools/{name}.py").lines(stored(results))) in PAGE


def test_every_interval_holds_the_policy_s_own_mean_as_the_page_says():
    rows = stored("open_bandit")
    own = {(row["campaign"], row["policy"]): row["value"] for row in rows if row["method"] == "own mean"}
    for row in rows:
        if row["method"] in ("ips", "snips", "dr"):
            mean = float(own[row["campaign"], row["policy"]])
            assert float(row["low"]) <= mean <= float(row["high"])


def test_coverage_rests_on_a_thousand_logs_and_is_near_its_level_but_where_the_page_says():
    rows = stored("log_coverage")
    assert {row["logs"] for row in rows} == {"1000"}
    of_small = [row["case"] == "small propensities" for row in rows]
    shares = [float(row["coverage"]) for row in rows]
    usual = [share for share, small in zip(shares, of_small, strict=True) if not small]
    rare = [share for share, small in zip(shares, of_small, strict=True) if small]
    assert 0.93 <= min(usual) <= max(usual) <= 0.97
    for ends in (usual, rare):
        assert f"{100.0 * min(ends):.1f} to {100.0 * max(ends):.1f} %" in PAGE


@pytest.mark.long
def test_the_coverage_of_a_few_logs_is_not_far_from_that_of_the_results():
    module = loaded("tools/log_coverage.py")
    rows = {(row["case"], row["method"]): float(row["coverage"]) for row in stored("log_coverage")}
    for case in module.CASES[:2]:
        for row in module.coverage(case, 60):
            expected = rows[row["case"], row["method"]]
            assert abs(row["coverage"] - expected) < 4.0 * (expected * (1.0 - expected) / 60) ** 0.5 + 0.01
