"""The page on costs of moves states what the stored results say."""

import csv
from pathlib import Path

import pytest
from pages import loaded

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
FILES = RESULTS / "movement.csv", RESULTS / "drift_bands.csv"
PAGE = (ROOT / "docs" / "moves.md").read_text(encoding="utf-8")


def found(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_tables_are_those_of_the_results():
    for rows in loaded("benchmarks/movement.py").tables(*FILES):
        assert "\n".join(rows) in PAGE


@pytest.mark.long
def test_the_half_widths_are_those_of_the_bands_and_the_sheets_figures_are_met():
    rows = loaded("benchmarks/movement.py").bands()
    assert rows == found(FILES[1])
    widths = [(row["random order"], row["any order"], row["linear"]) for row in rows]
    assert [each[0] for each in widths] == ["0.085", "0.180", "0.525"]
    assert [each[2] for each in widths] == ["0.138", "0.288", "0.398"]
    assert widths[2][1] == "0.612"
    for row in rows[:2]:
        assert f"{row['error, sorted']}" in PAGE


def test_readings_of_moves_follow_from_the_results():
    rows = [row for row in found(FILES[0]) if row["environment"] != "drift"]
    loss = {
        (row["environment"], row["amount"], row["agent"]): float(row["total loss"].split()[0]) for row in rows
    }
    moves = {(row["environment"], row["amount"], row["agent"]): int(row["moves"]) for row in rows}
    for law, price in {(row["environment"], row["amount"]) for row in rows}:
        here = {row["agent"]: loss[law, price, row["agent"]] for row in rows}
        best = "mini-AMM-UCB" if law == "switching" else "movement-ucb"
        assert min(here, key=here.__getitem__) == best
        assert moves[law, price, "mini-AMM-UCB"] <= moves[law, price, "AMM-UCB"] / 10 + 1
        assert moves[law, price, "batch-and-sort"] <= moves[law, price, "bpe"] / 20 + 1
