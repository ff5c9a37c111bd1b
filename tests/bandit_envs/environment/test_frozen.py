"""Within a version of an id nothing changes: a change of these numbers is a new version."""

import runpy
import tomllib
from pathlib import Path

import pytest

from bandit_envs.environment.registration import IDS
from bandit_envs.problems import data_files

ROOT = Path(__file__).parents[3]
SCRIPT = runpy.run_path(str(ROOT / "tools" / "frozen.py"))
FROZEN = tomllib.loads(SCRIPT["MANIFEST"].read_text(encoding="utf-8"))
CLOSE = (
    1e-6  # relative; another processor rounds otherwise, and a function is a solve of condition 1e8 or less
)


def test_every_id_is_frozen():
    assert set(FROZEN) == set(IDS)


@pytest.mark.parametrize(
    "env_id", [pytest.param(name, marks=pytest.mark.needs_data(*data_files(IDS[name]))) for name in IDS]
)
def test_an_id_gives_what_it_gave(env_id):
    assert SCRIPT["reference"](env_id) == pytest.approx(FROZEN[env_id], rel=CLOSE, abs=CLOSE)
