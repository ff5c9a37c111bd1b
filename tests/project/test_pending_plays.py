"""The guide on delays states what the stored results say of pending plays."""

import csv
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_of_pending_plays_is_that_of_the_results():
    page = (ROOT / "docs" / "guides" / "delays.md").read_text(encoding="utf-8")
    with (ROOT / "docs" / "results" / "fantasies.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    cells: dict[str, list[str]] = {}
    for row in rows:
        cells.setdefault(row["pending plays"], []).append(f"{row['regret']} ± {row['standard error']}")
    for name, values in cells.items():
        assert f"| {name} | {' | '.join(values)} |" in page
    regret = {(row["rule"], row["pending plays"]): float(row["regret"]) for row in rows}
    for rule in ("UCB", "EI", "TS"):
        assert regret[rule, "mean"] < min(regret[rule, "fantasies"], regret[rule, "delivered only"])
        if rule != "TS":
            assert regret[rule, "fantasies"] < regret[rule, "delivered only"]
