"""Contested claims: what agents lose on the worst of several families, and what would change our mind."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from synthetic import result

from agents.model.defaults import growth_by_smoothness
from bandit_envs.kernels.kernels import make_kernel
from gpbandits.evaluation.result import Result
from gpbandits.experiments import EnvironmentEntry
from gpbandits.reproductions.papers import figures_of
from gpbandits.reproductions.powers import Exponent, Growth, WorstFigure, by_horizon
from gpbandits.reproductions.verdicts import FEWEST

SOMEWHERE = EnvironmentEntry("GPBandit-Hard-v0", "somewhere")
FIGURES = figures_of("contested")
(MATERN,) = (each for each in FIGURES if isinstance(each, WorstFigure))
NU, DIM = 1.5, 1.0


def lost(label, horizon, **regret):
    """An environment of one horizon, in which each agent has this regret a round."""
    base = result(horizon=horizon, labels=tuple(regret))
    records = {
        agent: base.records[agent]._replace(regret=np.full((8, horizon), each))
        for agent, each in regret.items()
    }
    return dataclasses.replace(base, environment=label, records=records)


def test_each_agent_is_judged_by_the_environment_of_a_horizon_that_is_worst_for_it():
    shallow, steep = lost("T = 10, a", 10, bold=1.0, shy=4.0), lost("T = 10, b", 10, bold=2.0, shy=3.0)
    longer = lost("T = 40, a", 40, bold=0.5, shy=0.5)
    worst = [found for _, found in by_horizon([(SOMEWHERE, each) for each in (longer, shallow, steep)])]
    assert [found.environment for found in worst] == ["T = 10", "T = 40"]
    assert {agent: record.regret[0, 0] for agent, record in worst[0].records.items()} == {
        "bold": 2.0,
        "shy": 4.0,
    }


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_a_contested_claim_has_trials_enough_and_says_what_would_change_our_mind(figure):
    assert "What would change our mind: " in figure.differs
    assert all(study.trials >= FEWEST for study in figure.load())
    assert all(statement.checks for statement in figure.statements)


def test_the_powers_that_matern_kernels_are_held_against_are_those_of_the_study():
    (study,) = MATERN.load()
    kernels = {entry.kwargs["kernel"] for entry in study.environments}
    assert kernels == {"matern32"}
    growth = growth_by_smoothness(make_kernel("matern32", 0.2), int(DIM), 1000)
    assert growth == pytest.approx(1000 ** (DIM / (2 * NU + 2 * DIM)))
    optimal, of_tied = (NU + DIM) / (2 * NU + DIM), (NU + 2 * DIM) / (2 * NU + 2 * DIM)
    assert MATERN.printed.exponent.estimate == optimal
    checks = [check for statement in MATERN.statements for check in statement.checks]
    assert {check.bar for check in checks if isinstance(check, Growth)} == {optimal}
    assert [check.printed.estimate for check in checks if isinstance(check, Exponent)] == [of_tied, optimal]


def test_few_trials_decide_against_expected_improvement_over_posterior_means():
    folder = Path(__file__).parents[3] / "docs" / "results" / "contested-incumbent"
    for path in sorted(folder.glob("samples-*.parquet")):
        regret = Result.load(path).regret
        mean, sample = (regret[label][:, -1] for label in ("EI, posterior mean", "EIMS"))
        assert np.median(mean) < np.median(sample)
        assert 1 <= (mean > 1.5 * sample.max()).sum() <= len(mean) // 6
