"""A class name says which class is meant."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAWS = "bandit_envs/laws/"  # one name serves several kinds of laws, as {"law": "uniform"} does


@pytest.mark.long
def test_no_two_classes_share_a_name_but_laws_of_different_kinds():
    homes = defaultdict(list)
    for package in ("agents", "bandit_envs", "gpbandits"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    homes[node.name].append(path.relative_to(ROOT).as_posix())
    shared = {name: places for name, places in homes.items() if len(places) > 1}
    assert {name: each for name, each in shared.items() if not all(x.startswith(LAWS) for x in each)} == {}
