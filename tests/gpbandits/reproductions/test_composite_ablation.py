"""Each part of a composed agent is worth having where everything happens at once: the study, reduced."""

from pathlib import Path

import numpy as np
import pytest

from bandit_envs.basics.types import Floats
from gpbandits import Result, evaluate
from gpbandits.evaluation.statistics import Interval, paired_difference
from gpbandits.experiments import load_study

pytestmark = pytest.mark.long  # a reproduction
EXAMPLES = Path(__file__).parents[3] / "examples"
STUDY = EXAMPLES / "studies" / "composite-ablation.toml"
FULL = "all parts"


@pytest.fixture(scope="module")
def result() -> Result:
    study = load_study(STUDY)
    (entry,) = study.environments
    specs = {a.label: (a.name, a.options) for a in study.agents if a.label == FULL or "less the" in a.label}
    specs |= {a.label: (a.name, a.options) for a in study.agents if "pending" in a.label}
    return evaluate(entry.id, specs, trials=8, seed=9000, env_kwargs=entry.kwargs)


def rise(result: Result, curves: dict[str, Floats], label: str) -> Interval:
    return paired_difference(curves[label][:, -1], curves[FULL][:, -1])


@pytest.mark.parametrize("part", ["the context", "pending feedback", "the restart"])
def test_regret_rises_without_a_part(result, part):
    rises = rise(result, result.regret, f"less {part}")
    assert rises.low > 0
    assert rises.estimate > 0.05 * result.regret[FULL][:, -1].mean()


def test_without_the_constraint_violation_rises(result):
    label = "less the constraint"
    assert rise(result, result.hard_violation, label).low > 0
    # Of the sum over time, which slack makes up for, the mean alone: one trial in two has none of it.
    assert result.violation[label][:, -1].mean() > 4 * result.violation[FULL][:, -1].mean()
    assert rise(result, result.regret, label).high < 0  # what is bought by violating


def test_both_changes_are_found_and_no_others(result):
    found = [len(alarms) for alarms in result.alarms[FULL]]
    assert np.mean(found) == pytest.approx(2, abs=0.3)
    blind = [len(alarms) for alarms in result.alarms["less the context"]]
    assert np.mean(blind) > 2 * np.mean(found)  # differences of contexts look like changes
