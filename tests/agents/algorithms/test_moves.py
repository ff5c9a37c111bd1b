"""Batches in short and in random order, bands under drift, and the index that charges moves."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from agent_cases import on_a_line
from players import started
from references.moves import drift_half_widths
from scipy.stats import binomtest

import agents
from agents.algorithms.moves import in_short_order, nearest_first, phases_of, shortened
from agents.beliefs.eliminating import DriftingBatches
from agents.model.rounds import Delivery
from agents.registry import resolve_agent
from agents.restarts.base import growing_lengths
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws.movement import Switching, Travel
from bandit_envs.problem.decisions import unit_grid

HORIZON = 60
LINE = on_a_line(15, horizon=HORIZON, rkhs_bound=1.0, noise_std=0.1)


def hill(arm: int) -> float:
    return -abs(arm - 9) / 5.0


def told(t: int, values: Any) -> dict[str, Any]:
    """The info of a round whose feedback comes at once, of trials (B,) or of one."""
    values = np.asarray(values, dtype=np.float64)
    one = np.ones((*values.shape, 1))
    return {
        "t": np.full(values.shape, t) if values.ndim else t,
        "feedback_mask": one > 0,
        "feedback_step": (t * one).astype(np.int64),
        "feedback_reward": values[..., None] * one,
    }


def fed(agent: Any, value: Any = hill, rounds: int = HORIZON, seed: int = 0) -> list[int]:
    agent.reset(seed)
    arms = []
    for t in range(rounds):
        arms.append(agent.act(np.zeros(1)))
        agent.update(np.zeros(1), arms[-1], value(arms[-1]), told(t, value(arms[-1])))
    return arms


def played(name: str, setting: Setting, value: Any = hill, seed: int = 0, **options: Any) -> list[int]:
    return fed(resolve_agent((name, options))(setting), value, seed=seed)


@pytest.mark.parametrize("law", [None, Switching(0.3), Travel(2.0)])
@pytest.mark.parametrize("seed", range(3))
def test_sorting_changes_the_order_of_a_batch_and_nothing_else(law, seed):
    setting = replace(LINE, movement=law)
    plain, ordered = (played(name, setting, seed=seed) for name in ("bpe", "batch-and-sort"))
    ends = np.cumsum([0, *growing_lengths(HORIZON)])
    for start, end in pairwise(ends):
        assert sorted(plain[start:end]) == sorted(ordered[start:end])
    assert plain != ordered
    assert sum(map(hill, plain)) == pytest.approx(sum(map(hill, ordered)))


def test_a_tour_of_a_line_from_its_end_goes_along_it():
    places = unit_grid(9)
    plays = np.array([5, 2, 8, 2, 0, 5])
    assert in_short_order(plays, 0, places, Travel(3.0)).tolist() == [0, 2, 2, 5, 5, 8]
    assert in_short_order(plays, None, places, None)[0] == 5


def test_a_price_and_the_units_of_features_change_no_tour():
    rng = np.random.default_rng(0)
    places, plays = rng.random((20, 2)), rng.integers(20, size=30)
    first = in_short_order(plays, 3, places, Travel(0.1))
    assert first.tolist() == in_short_order(plays, 3, places, Travel(1e6)).tolist()
    assert sorted(first) == sorted(plays)


@pytest.mark.parametrize("seed", range(5))
def test_two_opt_visits_all_stops_and_leaves_no_reversal_that_shortens(seed):
    points = np.random.default_rng(seed).random((14, 2))
    apart = Travel(1.0).distance(points[:, None], points[None])

    def length(path: Any) -> float:
        return float(sum(apart[a, b] for a, b in pairwise(path)))

    nearest = nearest_first(apart)
    path = shortened(nearest, apart)
    assert path[0] == 0
    assert sorted(path) == list(range(14))
    assert length(path) <= length(nearest)
    spans = [(i + 1, j + 1) for i in range(14) for j in range(i + 2, 14)]
    others = [[*path[:i], *path[i:j][::-1], *path[j:]] for i, j in spans]
    assert min(map(length, others)) >= length(path) - 1e-8


def test_an_index_that_charges_moves_stays_where_all_of_them_cost_more_than_its_band():
    dear = replace(LINE, movement=Switching(50.0))
    arms = played("movement-ucb", dear)
    assert len(set(arms)) == 1
    assert arms[0] != 9  # the best arm is elsewhere, and mini-GP-UCB finds it
    assert played("gp-ucb", dear, repeat=2.0)[-1] == 9


def test_an_index_without_costs_of_moves_is_igp_ucb():
    assert played("movement-ucb", LINE) == played("igp-ucb", LINE)


def test_the_index_plays_the_same_in_other_units_of_the_reward():
    law = replace(LINE, movement=Travel(0.5))
    model = {"noise_std": 102.4, "kernel": 1024.0**2 * LINE.kernel, "prior_mean": 0.0}
    scaled = replace(LINE, movement=Travel(512.0), **model)
    assert played("movement-ucb", law) == played("movement-ucb", scaled, lambda arm: 1024.0 * hill(arm))


# Drift

GRID = unit_grid(30)
GRAM = make_kernel("rbf", 0.2)(GRID)
DRIFTING = Setting(
    GRID, kernel=make_kernel("rbf", 0.2), horizon=120, noise_std=0.1, rkhs_bound=2.0, may_change=True
)


def of_norm(norm: float, rng: np.random.Generator, size: int) -> Any:
    """Functions of exactly this norm on the grid, (size, N)."""
    weights = rng.standard_normal((size, 8))
    arms = np.stack([rng.choice(30, 8, replace=False) for _ in range(size)])
    values = np.einsum("bk,bkn->bn", weights, GRAM[arms])
    norms = np.sqrt(np.einsum("bk,bkl,bl->b", weights, GRAM[arms[:, :, None], arms[:, None]], weights))
    return norm * values / norms[:, None]


@pytest.mark.long
def test_bands_of_adaptive_play_under_drift_hold_with_their_probability():
    """Functions f + (s / T) g of norm at most 2, 200 trials; a trial fails if any of its bands does."""
    trials, T = 200, DRIFTING.horizon
    rng = np.random.default_rng(5)
    first, change = of_norm(1.3, rng, trials), of_norm(0.7, rng, trials)
    rate = float(np.abs(change).max() / T)
    options = {"variation": rate, "restart_every": 60}
    agent = started(agents.make("permuted-elimination", DRIFTING, trials, **options), range(trials))
    belief, forget, since = agent.belief, agent.belief.forget, 0
    failed, ends = np.zeros(trials, dtype=bool), []

    def look(trial: Any) -> None:
        mean, half = belief.band
        steps = np.arange(since, t + 1) / T
        failed.__ior__((np.abs(first + steps.mean() * change - mean) > half).any(axis=1))
        ends.append(t + 1)
        forget(trial)

    belief.forget = look
    for t in range(T):
        since = ends[-1] if ends else 0
        arm = agent.act(np.zeros((trials, 1)))
        mean = (first + t / T * change)[np.arange(trials), arm]
        agent.update(np.zeros((trials, 1)), arm, mean, told(t, mean + 0.1 * rng.standard_normal(trials)))
    assert ends == np.cumsum([each.plays for each in phases_of(T, 60, rate)])[:-1].tolist()
    assert binomtest(int(failed.sum()), trials, 0.1, alternative="greater").pvalue > 0.01


def test_all_arms_are_active_again_after_a_block():
    agent = started(agents.make("permuted-elimination", DRIFTING, variation=0.0, restart_every=60))
    active = []
    for t in range(120):
        arm = agent.act(np.zeros(1))
        value = float(-3.0 * abs(GRID[arm, 0] - 0.3))
        agent.update(np.zeros(1), arm, value, told(t, value))
        active.append(int(agent.belief.active(np.zeros(1, dtype=np.int64)).sum()))
    assert active[58] < 30
    assert active[59] == 30


def test_the_slack_keeps_arms_within_the_variation():
    active = []
    for rate in (0.0, 1e-3):
        agent = agents.make("permuted-elimination", DRIFTING, variation=rate, restart_every=120)
        fed(agent, lambda arm: float(-3.0 * abs(GRID[arm, 0] - 0.3)), 100)
        active.append(agent.belief.active(np.zeros(1, int)))
    assert (active[0] <= active[1]).all()
    assert active[0].sum() < active[1].sum()


@pytest.mark.parametrize(("size", "variation"), [(400, 0.1), (40, 0.3)])
def test_the_band_is_the_smaller_of_the_two_forms(size, variation, monkeypatch):
    plays = np.random.default_rng(0).integers(30, size=size)
    rate = variation / (size - 1)
    agent = started(agents.make("permuted-elimination", DRIFTING, variation=rate, restart_every=9999))
    phase = agent.belief.phase._replace(variation=variation)
    monkeypatch.setattr(DriftingBatches, "phase", phase)
    for arm in plays:
        agent.belief.receive(Delivery.of_values(np.array([0]), np.array([arm]), np.array([0.0])))
    values = 30 * len(phases_of(120, 9999, rate))
    facts = {"bound": 2.0, "noise_std": 0.1, "level": 0.1 / values}
    forms = drift_half_widths(GRAM, 0.01, plays, **facts, variation=variation)
    np.testing.assert_allclose(agent.belief.band[1][0], np.minimum(*forms), rtol=1e-6)


def test_recommendations_move_nowhere():
    agent = started(agents.make("movement-ucb", replace(LINE, movement=Switching(50.0)), width=2.0))
    for t, arm in enumerate([9, 9, 2, 2]):
        agent.act(np.zeros(1))
        agent.update(np.zeros(1), arm, hill(arm) + 2, told(t, hill(arm) + 2))
    assert agent.recommend().action == 9
