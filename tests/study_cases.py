"""What tests of studies share: small ones, those of the examples as cases, and running commands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from bandit_envs.problems import data_files
from gpbandits import Result, cli, evaluate
from gpbandits.experiments import AgentEntry, EnvironmentEntry, Study, load_study

STUDIES = Path(__file__).parents[1] / "examples" / "studies"
SMALL = {"num_arms": 20, "horizon": 30}
PAIR = Study(
    "small & <b>safe</b>",
    4,
    (
        EnvironmentEntry("GPBandit-GP-v0", "GP: <i>", SMALL),
        EnvironmentEntry("GPBandit-Constrained-v0", "Constrained", SMALL),
    ),
    (AgentEntry("gp-ucb", "GP-UCB"), AgentEntry("random", "random")),
    block_size=2,
)


def tiny(*agents: str, trials: int = 4, horizon: int = 5) -> str:
    """A study in blocks of one trial as people write it."""
    entries = "".join(f'[[agents]]\nname = "{name}"\n' for name in agents)
    return f"""
[study]
name = "tiny"
trials = {trials}
block_size = 1

[[environments]]
id = "GPBandit-GP-v0"
label = "GP: l = 0.2"
kwargs = {{ horizon = {horizon}, num_arms = 6 }}

{entries}"""


TINY = tiny("random", "gp-ucb")


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
