"""Budgets in results: curves stay after the last play, and can be drawn over what is spent."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from players import FirstArm, UniformArms
from synthetic import assert_same

from gpbandits import evaluate
from gpbandits.evaluation import Result
from gpbandits.evaluation.measures import metrics_of
from gpbandits.evaluation.record import budget_grid, over_budget
from gpbandits.evaluation.tables import comparison, summary
from gpbandits.report.standings import Standings, relative_losses

ENVIRONMENT = {"num_arms": 20, "budget": {"law": "gp", "budget": 6, "noise_std": 0.1}}


@cache
def played(**more: Any) -> Result:
    keywords = {**ENVIRONMENT, "delay": {"law": "constant", "rounds": 2}}
    return evaluate("GPBandit-Budget-v0", ["gp-ucb", "random"], trials=4, seed=3, env_kwargs=keywords, **more)


def test_curves_carry_their_last_value_after_the_last_play():
    result = played()
    for label in result.agents:
        played_rounds = result.played[label]
        assert (played_rounds < result.horizon).all()
        for curves in (result.regret, result.simple_regret, result.spent, result.budget_regret):
            for row, rounds in zip(curves[label], played_rounds, strict=True):
                assert row.shape == (result.horizon,)
                np.testing.assert_array_equal(row[rounds:], row[rounds - 1])
                assert curves is result.simple_regret or (np.diff(row[:rounds]) != 0).any()


def test_the_budget_is_never_exceeded_and_less_than_a_play_is_left():
    result = played()
    for label in result.agents:
        left = 6.0 - result.spent[label][:, -1]
        assert ((left >= 0) & (left < 1.2)).all()


def test_budget_regret_is_what_the_best_rate_would_have_earned_less_the_rewards():
    keywords = {**ENVIRONMENT, "budget": {"law": "unit", "budget": 6}}
    result = evaluate("GPBandit-Budget-v0", ["random"], trials=3, env_kwargs=keywords)
    assert (result.played["random"] == 6).all()
    np.testing.assert_allclose(result.budget_regret["random"], result.regret["random"], atol=1e-12)
    np.testing.assert_array_equal(result.spent["random"][:, :6], np.tile(np.arange(1.0, 7.0), (3, 1)))


def test_a_file_keeps_what_was_spent(tmp_path):
    result = played()
    result.save(tmp_path / "budget.parquet")
    assert_same(Result.load(tmp_path / "budget.parquet"), result, timed=True)
    assert {"round_spent", "round_shortfall"} <= set(result.to_frame().columns)


def test_a_curve_over_the_budget_is_what_a_trial_had_when_that_was_spent():
    spent, values = np.array([[1.0, 1.5, 3.0, 3.0]]), np.array([[10.0, 20.0, 30.0, 30.0]])
    grid = np.array([1.0, 1.4, 1.5, 2.9, 3.0, 4.0])
    np.testing.assert_array_equal(over_budget(values, spent, grid), [[10, 10, 20, 20, 30, 30]])
    whole = budget_grid([spent, np.array([[0.5, 2.0, 2.0, 2.0]])])
    assert (whole[0], whole[-1]) == (1.0, 3.0)


def test_what_needs_a_budget_says_so(tmp_path):
    free = evaluate("GPBandit-GP-v0", ["random"], trials=2, env_kwargs={"num_arms": 9, "horizon": 5})
    assert free.spent == free.budget_regret == {}
    assert (free.played["random"] == 5).all()
    with pytest.raises(ValueError, match='x must be "round" where plays cost nothing'):
        free.plot(tmp_path / "figure.png", x="spent")
    with pytest.raises(ValueError, match="unknown x 'time'"):
        free.plot(tmp_path / "figure.png", x="time")
    with pytest.raises(ValueError, match='metric "budget_regret" needs an environment with a budget'):
        free.plot(tmp_path / "figure.png", metric="budget_regret")


class Spender(FirstArm):
    """Plays the dearest arm: its plays are few, and the worst that one can make of a budget."""

    def __init__(self, setting):
        self.arm = int(np.argmax(setting.known_costs))

    def act(self, observation):
        return self.arm


@cache
def contest() -> Result:
    costs = {"law": "gp", "budget": 20, "low": 0.2, "high": 1.2, "known": True}
    agents = {name: name for name in ("random", "ratio-ucb", "gp-ucb")} | {"spender": Spender}
    return evaluate("GPBandit-Budget-v0", agents, trials=20, env_kwargs={"num_arms": 50, "budget": costs})


@pytest.mark.long
def test_few_plays_are_no_merit_anywhere():
    """By cumulative regret the spender would be ahead of random play, and ratio-ucb last."""
    result = contest()
    by_plays = {label: regret[:, -1].mean() for label, regret in result.regret.items()}
    assert by_plays["spender"] < by_plays["random"] < by_plays["ratio-ucb"]
    order = ["ratio-ucb", "gp-ucb", "random", "spender"]
    assert result.main_metric == "budget_regret"
    assert [row[0] for row in result.table().rows] == order
    assert [line.split(":")[0].strip() for line in repr(result).splitlines()[1:]] == order
    assert result.ordered == [row[0] for row in summary(result).rows] == order
    assert Standings([result], "random").agents == order
    scores = {label: 1 - loss.mean() for label, loss in relative_losses(result, "random").items()}
    assert scores["ratio-ucb"] > scores["gp-ucb"] > scores["random"] > scores["spender"]
    assert scores["random"] == pytest.approx(0, abs=1e-12)  # a mean over its own mean, but for rounding
    assert comparison(result).name == "comparison-budget_regret"
    assert next(iter(metrics_of(result))) == "budget_regret"
    assert "budget regret" in result.plot().axes[0].get_ylabel()


class EndsEarly(UniformArms):
    """Plays the dearest arm as soon as the budget does not pay for it, which ends the trial."""

    def reset(self, seed):
        super().reset(seed)
        self.spent, self.costs = 0.0, np.ravel(self.setting.known_costs)

    def act(self, observation):
        dearest = int(self.costs.argmax())
        paid = self.spent + self.costs[dearest] <= self.setting.budget
        return super().act(observation) if paid else dearest

    def update(self, observation, action, reward, info):
        self.spent += self.costs[action]


@pytest.mark.parametrize("limits", [0, 1])
def test_nobody_gains_by_a_play_that_the_budget_cannot_pay(limits):
    """Such a play ends the trial: sums over rounds would be a third less."""
    costs = {"law": "gp", "budget": 3, "low": 0.1, "high": 1.2, "known": True}
    keywords = {"num_arms": 50, "budget": costs, "horizon": 60}
    keywords |= {"constraints": {"law": "gp", "quantile": 0.3}} if limits else {}
    agents = {"random": "random", "at random": UniformArms, "ends early": EndsEarly}
    result = evaluate("GPBandit-Budget-v0", agents, trials=60, env_kwargs=keywords)
    losses = relative_losses(result, "random")
    gain = losses["at random"] - losses["ends early"]
    assert gain.mean() < 2.5 * gain.std() / np.sqrt(len(gain))
    for name in ("budget_regret", *(["hard_violation"] if limits else [])):
        summed = getattr(result, name)
        assert summed["ends early"][:, -1].mean() < 0.85 * summed["at random"][:, -1].mean()


@pytest.mark.long
def test_averages_are_of_the_plays_that_were_made():
    result = contest()
    for label, average in result.average_regret.items():
        np.testing.assert_allclose(average[:, -1], result.regret[label][:, -1] / result.played[label])
        np.testing.assert_array_equal(average[:, 0], result.regret[label][:, 0])
    assert "budget regret" in summary(result).header
