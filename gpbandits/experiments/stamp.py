"""What an archive says of its origin, so that a reader can tell whether it is of today's tasks and code."""

import hashlib
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from bandit_envs.environment.making import make
from bandit_envs.laws.tabulated import RecordedValues
from bandit_envs.problem.problem import Problem
from gpbandits.experiments.provenance import sources, versions


def stamp(env_id: str, kwargs: Mapping[str, Any], agent: str) -> dict[str, Any]:
    """Return what an archive says of its origin: commit, code, versions, time, and what was played."""
    made = make(env_id, **kwargs)
    problem: Problem = made.unwrapped.problem  # type: ignore[attr-defined]
    made.close()
    return {
        "commit": commit(),
        "code": sources(env_id, agent),
        "versions": versions(agent),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "played": fingerprint(problem),
    }


def fingerprint(problem: Problem) -> str:
    """Return the hash of a problem's points, horizon and parts, and of the values of a table."""
    total = hashlib.sha256(repr((problem.name, problem.horizon, sorted(problem.composed.items()))).encode())
    total.update(np.ascontiguousarray(problem.decisions.points).tobytes())
    if isinstance(problem.reward, RecordedValues):
        total.update(np.ascontiguousarray(problem.reward.among(problem.decisions.points)).tobytes())
    return total.hexdigest()[:16]


def commit() -> str:
    """Return the commit of the checkout of this code, with "+" if files were changed; "" without one."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return ""
    git = ["git", "-C", str(root)]
    with suppress(OSError, subprocess.CalledProcessError):
        head, changed = (
            subprocess.run([*git, *words], capture_output=True, text=True, check=True).stdout.strip()
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "-uno"])
        )
        return head + ("+" if changed else "")
    return ""
