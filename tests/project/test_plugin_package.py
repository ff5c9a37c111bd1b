"""The example of a package with an agent of one's own: once installed, it is found by name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "examples" / "custom_agent_package"
USE = """
import agents
from gpbandits import check_agent, evaluate

assert "explore-then-commit" in agents.names()
check_agent("explore-then-commit")
chosen = {"all": ("explore-then-commit", {"share": 1.0}), "ETC": "explore-then-commit"}
result = evaluate("GPBandit-GP-v0", chosen, trials=20, env_kwargs={"num_arms": 10, "horizon": 200})
assert result.regret["ETC"][:, -1].mean() < 0.6 * result.regret["all"][:, -1].mean()
print("found by name")
"""


@pytest.mark.long
def test_an_agent_of_an_installed_package_is_found_by_name(tmp_path):
    target = tmp_path / "site"
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet")
    install = [sys.executable, "-m", "pip", "install", *offline, "--target", str(target), str(PACKAGE)]
    subprocess.run(install, check=True, cwd=tmp_path, capture_output=True)
    paths = os.pathsep.join([str(target), str(PACKAGE.parents[1])])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", USE],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "found by name", done.stderr
