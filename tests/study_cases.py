"""What tests of studies share: those of the examples as cases, and running commands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from bandit_envs.problems import data_files
from gpbandits import Result, cli, evaluate
from gpbandits.experiments import load_study

STUDIES = Path(__file__).parents[1] / "examples" / "studies"
TINY = """
[study]
name = "tiny"
trials = 4
block_size = 1

[[environments]]
id = "GPBandit-GP-v0"
kwargs = { horizon = 5, num_arms = 6 }

[[agents]]
name = "random"

[[agents]]
name = "gp-ucb"
"""


def called(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[Any, str, str]:
    with pytest.raises(SystemExit) as stop:
        cli.main([*map(str, arguments)])
    captured = capsys.readouterr()
    return stop.value.code, captured.out, captured.err


def played(
    name: str,
    trials: int,
    place: int | str = 0,
    only: Sequence[str] = (),
    seed: int | None = None,
    **changes: object,
) -> Result:
    """One environment of a study, by number or label, on fewer trials, changed where a keyword says so."""
    study = load_study(STUDIES / f"{name}.toml")
    labels = [entry.label for entry in study.environments]
    entry = study.environments[place if isinstance(place, int) else labels.index(place)]
    chosen = {
        each.label: (each.name, each.options) for each in study.agents if not only or each.label in only
    }
    seed = study.seed if seed is None else seed
    return evaluate(entry.id, chosen, trials=trials, seed=seed, env_kwargs={**entry.kwargs, **changes})


def study_cases(pattern: str = "*.toml") -> list[Any]:
    return [_case(path) for path in sorted(STUDIES.glob(pattern))]


def _case(path: Path) -> Any:
    problems = {gym.spec(entry.id).kwargs["problem"] for entry in load_study(path).environments}
    files = [file for problem in sorted(problems) for file in data_files(problem)]
    return pytest.param(path, id=path.stem, marks=pytest.mark.needs_data(*files))
