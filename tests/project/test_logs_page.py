"""The page on values from logs states what the stored results say."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "logs.md").read_text(encoding="utf-8")


def script(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored(name: str) -> list[dict[str, str]]:
    with (ROOT / "docs" / "results" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(("name", "results"), [("open_bandit_values", "open_bandit")])
def test_the_tables_are_those_of_the_results(name, results):
    assert "\n".join(script(name).lines(stored(results))) in PAGE


def test_every_interval_holds_the_policy_s_own_mean_as_the_page_says():
    rows = stored("open_bandit")
    own = {(row["campaign"], row["policy"]): row["value"] for row in rows if row["method"] == "own mean"}
    for row in rows:
        if row["method"] in ("ips", "snips", "dr"):
            mean = float(own[row["campaign"], row["policy"]])
            assert float(row["low"]) <= mean <= float(row["high"])
