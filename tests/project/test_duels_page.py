"""The page on duels states what the stored results say."""

from pathlib import Path

import pytest
from agent_cases import DUELLING
from pages import loaded

ROOT = Path(__file__).parents[2]
script = loaded("benchmarks/duels.py")

PAGE = (ROOT / "docs" / "duels.md").read_text(encoding="utf-8")
ROWS = script.read(ROOT / "docs" / "results" / "duels.csv")


@pytest.mark.parametrize("name", [*DUELLING, "random"])
def test_every_agent_of_duels_has_a_row(name):
    assert f"| `{name}` |" in PAGE


def test_the_tables_are_those_of_the_results():
    tables = script.tables(ROWS)
    assert set(tables) == set(script.SIZES)
    for bound, lines in tables.items():
        assert "\n".join([f"**B = {bound}**", "", *lines]) in PAGE


def test_a_width_of_one_ties_in_regret_and_gets_stuck():
    for bound in script.SIZES:
        each = {row["rule"]: row for row in ROWS if row["bound"] == bound}
        narrow, wide = each["RUCB-like, w = 1"], each["MaxMinLCB, w = 2"]
        error = (float(narrow["average_se"]) ** 2 + float(wide["average_se"]) ** 2) ** 0.5
        assert abs(float(narrow["average"]) - float(wide["average"])) < 2 * error
        assert float(narrow["simple"]) > float(wide["simple"])
        assert f"{float(narrow['stuck']):.0%}".replace("%", f" % (B = {bound})") in " ".join(PAGE.split())


def test_the_bands_of_the_theorem_are_no_better_than_uniform_pairs():
    for bound in script.SIZES:
        each = {row["rule"]: row for row in ROWS if row["bound"] == bound}
        phases, uniform = each["MR-LPF, the theorem's beta"], each["uniform pairs"]
        error = (float(phases["average_se"]) ** 2 + float(uniform["average_se"]) ** 2) ** 0.5
        assert abs(float(phases["average"]) - float(uniform["average"])) < 2 * error
