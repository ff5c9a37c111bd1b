"""The package for OptunaHub has the registry's layout and is loaded as the hub loads it."""

from __future__ import annotations

import runpy
from pathlib import Path

import optuna
import pytest

ROOT = Path(__file__).parents[3]
REGISTRY = ROOT / "tools" / "integrations" / "optunahub" / "package"
PACKAGE = REGISTRY / "samplers" / "gpbandits"
# The front matter of the registry's template, all of it text or lists of text.
FIELDS = {
    "author": str,
    "title": str,
    "description": str,
    "tags": list,
    "optuna_versions": list,
    "license": str,
}
OF_A_KIND = ("GPUCBSampler", "GPTSSampler", "GPPISampler", "DelayAwareSampler")


def loss(trial):
    trial.set_user_attr("spent", 1.0)
    return (trial.suggest_float("x", 0, 1) - 0.3) ** 2


def played(sampler, objective=loss, n=8):
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=n)
    return study


def test_the_front_matter_has_the_fields_of_the_template():
    yaml = pytest.importorskip("yaml")
    empty, front, page = (PACKAGE / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    said = yaml.safe_load(front)
    assert empty == ""
    assert {name: type(value) for name, value in said.items()} == FIELDS
    assert "sampler" in said["tags"]  # which the registry demands
    assert all(isinstance(each, str) for each in [*said["tags"], *map(str, said["optuna_versions"])])
    assert [f"## {name}" in page for name in ("Abstract", "APIs", "Installation", "Example")] == [True] * 4
    assert "<" not in page  # the registry removes HTML


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", OF_A_KIND)
def test_each_sampler_proposes_by_its_agent(hub, name):
    study, again = (played(getattr(hub, name)(seed=0)) for _ in range(2))
    assert [trial.params for trial in study.trials] == [trial.params for trial in again.trials]
    assert study.best_value < 0.02


def test_the_constrained_sampler_finds_the_best_feasible_trial(hub):
    def limited(trial):
        trial.set_constraint("left", 0.5 - trial.suggest_float("x", 0, 1))
        return loss(trial)

    study = played(hub.ConstrainedSampler(seed=0), limited, 10)
    assert 0.5 <= study.best_params["x"] < 0.6


def test_the_budgeted_sampler_ends_the_study(hub):
    assert len(played(hub.BudgetedSampler(5.0, seed=0), n=9).trials) == 5


@pytest.mark.long
def test_the_example_runs(hub, capsys):
    runpy.run_path(str(PACKAGE / "example.py"), run_name="__main__")
    assert capsys.readouterr().out.count("best") == 6
