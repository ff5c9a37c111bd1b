"""What may have been done to values is allowed for exactly, and StableOpt fears neighbours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import players
import pytest
from players import at_once, started
from scipy.stats import binomtest

import agents
from agents.acquisition.robust import (
    CorruptedRewards,
    CorruptedWidth,
    ExactMisspecification,
    Misspecification,
    MisspecifiedWidth,
    RobustUCB,
)
from agents.algorithms.robust import Truncated, neighbours, worst_nearby
from agents.beliefs.delivered import Delivered, EquallyWeighted
from agents.beliefs.points import Arms, Pairs
from agents.model.model import Model
from agents.model.rounds import Delivery
from agents.posteriors import FORMS
from agents.widths.base import FixedWidth
from bandit_envs import BanditVectorEnv, Decisions, Problem, Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import Gaussian, KnownFunction, delays
from bandit_envs.problems import build
from gpbandits import evaluate
from gpbandits.evaluation import robust_regret

ARMS = np.linspace(0.0, 1.0, 15)[:, None]
NOISE = 0.2
SETTING = Setting(arms=ARMS, horizon=50, kernel=make_kernel("rbf"), noise_std=NOISE, rkhs_bound=2.0)
POINT = np.random.default_rng(0).integers(0, 11, size=30)  # the last arms are never played
HERE = np.zeros(1, dtype=np.int64)
C, EPS = 3.0, 0.1


def weights() -> np.ndarray:
    """a_x of every play, (n, A), by the textbook."""
    k = SETTING.kernel(ARMS)
    return np.linalg.solve(k[np.ix_(POINT, POINT)] + NOISE**2 * np.eye(len(POINT)), k[POINT])


AT_HERE = Arms(HERE, SETTING.decisions)


def told(form: str | None = None) -> Delivered:
    belief = Delivered(Model.of(SETTING, form=form), 1)
    for i in range(len(POINT)):
        belief.receive(Delivery.of_values(HERE, POINT[i : i + 1], np.zeros(1)))
    return belief


@pytest.mark.parametrize("form", FORMS)
def test_the_extra_for_corruption_is_the_worst_single_value(form):
    extra = CorruptedRewards(C)(AT_HERE.observation_weights(told(form)))
    np.testing.assert_allclose(extra[0], C * np.abs(weights()).max(axis=0), atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_the_extra_for_misspecification_is_the_worst_sign_at_every_point(form):
    moved = np.zeros((15, 15))
    for i, x in enumerate(POINT):
        moved[x] -= weights()[i]  # of m in f_0 - mu, (points, A)
    known = AT_HERE.observation_weights(told(form))
    for kind in (Misspecification, ExactMisspecification):
        np.testing.assert_allclose(kind(EPS)(known)[0], EPS * np.abs(moved).sum(axis=0), atol=1e-9)
        moved += np.eye(15)  # in f - mu


def test_the_extras_are_never_larger_than_the_papers():
    belief = told()
    t, std = np.array([len(POINT) + 1]), belief.std(HERE)
    none = FixedWidth(0.0)
    corrupted = CorruptedWidth(none, C, NOISE**2)(t, belief.gain)[:, None] * std
    assert (CorruptedRewards(C)(AT_HERE.observation_weights(belief)) <= corrupted + 1e-9).all()
    far = MisspecifiedWidth(none, EPS, NOISE**2)(t, belief.gain)[:, None] * std
    known = AT_HERE.observation_weights(belief)
    sharp, exact = (kind(EPS)(known) for kind in (Misspecification, ExactMisspecification))
    assert (sharp <= far + 1e-9).all()
    assert (sharp < 0.9 * far).any()
    assert (exact <= sharp + EPS + 1e-12).all()
    assert (exact < sharp).any()


def test_before_any_play_there_is_nothing_to_corrupt_and_eps_to_miss():
    here = Arms(np.zeros(2, dtype=np.int64), SETTING.decisions)
    fresh = here.observation_weights(Delivered(Model.of(SETTING), 2))
    np.testing.assert_array_equal(CorruptedRewards(C)(fresh), np.zeros((2, 15)))
    np.testing.assert_array_equal(Misspecification(EPS)(fresh), np.zeros((2, 15)))
    np.testing.assert_array_equal(ExactMisspecification(EPS)(fresh), np.full((2, 15), EPS))


@pytest.mark.parametrize(("name", "option"), [("ec-gp-ucb", "eps"), ("rgp-ucb", "budget")])
@pytest.mark.parametrize("extra", ["sharp", "paper"])
def test_with_nothing_to_fear_they_play_as_gp_ucb(name, option, extra):
    problem = build("gp", {"num_arms": 30, "horizon": 30})
    ours = play(problem, (name, {option: 0.0, "extra": extra}), 3)[1]
    np.testing.assert_array_equal(ours, play(problem, ("gp-ucb", {"width": "amm"}), 3)[1])


def play(problem: Any, spec: Any, trials: int) -> tuple[np.ndarray, np.ndarray]:
    """By how many half-widths bands missed, (B,), and actions, (T, B)."""
    env = BanditVectorEnv(problem, trials, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=list(range(trials)))
    name, options = spec
    agent = started(agents.make(name, env.setting, trials, **options), list(range(trials)))
    truth = np.array([trial.means[0, 0] for trial in env.simulator.trials])
    context, actions = np.zeros(trials, dtype=np.int64), []
    missed = np.zeros(trials)
    for t in range(problem.horizon):
        half = half_width(agent, context, np.full(trials, t + 1))
        ratio = (np.abs(agent.belief.mean(context) - truth) - 1e-9) / np.maximum(half, 1e-12)
        missed = np.maximum(missed, ratio.max(axis=1))
        action = agent.act(observation)
        following, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward, info)
        observation = following
        actions.append(action)
    return missed, np.array(actions)


def half_width(agent: Any, context: Any, t: Any) -> np.ndarray:
    rule, belief = agent.rule, agent.belief
    half = rule.width(t, belief.gain)[:, None] * belief.std(context)
    extra = getattr(rule, "extra", rule.width)
    if isinstance(rule, RobustUCB):
        half += extra(agent.arms(context).observation_weights(belief))
    of_f_0 = not isinstance(extra, ExactMisspecification)
    return half + getattr(extra, "eps", 0.0) if of_f_0 else half


HILL = {"kernel": "rbf", "rkhs_norm": 2.0, "num_arms": 60, "points": "grid", "noise_std": 0.1}
ATTACKED = HILL | {"corruption": {"law": "near-optimal", "budget": 3.0}, "horizon": 80}
FAR = HILL | {"misspecification": 0.1, "horizon": 60}
TRIALS = 10


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("far", "name"), [(True, "ec-gp-ucb"), (False, "rgp-ucb")])
def test_the_band_holds_and_the_plain_one_fails(far, name):
    problem = build("rkhs", FAR if far else ATTACKED)
    for extra in ("sharp", "paper", "exact")[: 3 if far else 2]:
        failed = int((play(problem, (name, {"extra": extra}), TRIALS)[0] > 1.0).sum())
        assert binomtest(failed, TRIALS).proportion_ci(0.99).low <= 0.1
    assert (play(problem, ("gp-ucb", {"width": "amm"}), TRIALS)[0] > 1.0).mean() > 0.5


@pytest.mark.parametrize("name", ["ec-gp-ucb", "rgp-ucb"])
def test_on_a_box_the_scores_are_those_of_the_set(name):
    box = Setting(low=np.zeros(1), high=np.ones(1), horizon=50, kernel=SETTING.kernel, noise_std=NOISE)
    options = {"eps": 0.1} if name == "ec-gp-ucb" else {"budget": 3.0}
    agent = started(agents.make(name, box, **options))
    env_like = started(agents.make(name, SETTING, rkhs_bound=1.0, **options))
    for arm in (2, 7, 7, 11):
        for player, action in ((agent, box.to_action(ARMS[arm])), (env_like, arm)):
            t = player.round
            player.update(np.zeros(1), action, 1.0, at_once(t, 1.0))
    on_box = Pairs(np.empty(0), ARMS).observation_weights(agent.belief)
    on_set, extra = AT_HERE.observation_weights(env_like.belief), env_like.rule.extra
    np.testing.assert_allclose(extra(on_box), extra(on_set), atol=1e-9)
    agent.act(np.zeros(1))


def test_what_is_told_of_noise_does_not_make_a_corrupted_value_count_for_more():
    quiet = SETTING.with_facts(noise_profile=np.linspace(0.1, 1, 15))
    loud, plain = EquallyWeighted(Model.of(quiet), 1), Delivered(Model.of(SETTING), 1)
    for belief in (loud, plain):
        belief.receive(Delivery.of_values(HERE, POINT[:1], np.ones(1)))
    np.testing.assert_array_equal(loud.std(HERE), plain.std(HERE))


# --- heavy tails ---


def test_values_beyond_the_level_of_their_round_are_taken_for_the_prior_mean():
    values = Truncated(Model.of(SETTING, prior_mean=1.0), 1, alpha=0.5, moment=2.0)
    three = np.array([1.0, 4.0, -1.0])
    level = 2.0 ** (1 / 1.5)
    seen = values.values(np.zeros(3, dtype=np.int64), 1.0 + three, np.empty((3, 0)))
    np.testing.assert_allclose(seen, 1.0 + np.where(np.abs(three) <= level, three, 0.0))
    for over in (1, 98):  # so many rounds: what comes next comes in the round after
        values.end_round(over)
        level = 2.0 ** (1 / 1.5) * (over + 1) ** (1 / 3)
        rewards = 1.0 + level * np.array([0.999, 1.001])
        just = values.values(np.zeros(2, dtype=np.int64), rewards, np.empty((2, 0)))
        np.testing.assert_allclose(just, [1.0 + 0.999 * level, 1.0])


@pytest.mark.parametrize("law", [{"law": "student-t", "degrees": 2.1}, {"law": "pareto", "index": 2.1}])
def test_the_band_holds_under_heavy_tails(law):
    problem = build("rkhs", HILL | {"noise": law | {"std": 0.46}, "noise_std": None, "horizon": 60})
    missed = play(problem, ("tgp-ucb", {}), TRIALS)[0]
    assert binomtest(int((missed > 1.0).sum()), TRIALS).proportion_ci(0.99).low <= 0.1
    assert missed.max() < 0.5  # several times too wide


# StableOpt

LINE = np.linspace(0.0, 1.0, 40)[:, None]
NEARBY, WIDE = 0.08, 3.0
BENCH = build("gp", {"num_arms": 100, "horizon": 150, "noise_std": 0.1})


def spike_and_plateau(x):
    return 1.5 * np.exp(-(((x[:, 0] - 0.2) / 0.07) ** 2)) + np.exp(-(((x[:, 0] - 0.7) / 0.15) ** 2))


SPIKES = Problem(
    Decisions(LINE),
    KnownFunction(spike_and_plateau),
    make_kernel("rbf", 0.07),
    noise=Gaussian(0.1),
    delay=delays.PoissonDelay(2),
    horizon=80,
)


def by_hand(values, eps):
    """min over |x' - x| <= eps, with a loop."""
    return np.array([values[np.abs(LINE[:, 0] - x) <= eps + 1e-9].min() for x in LINE[:, 0]])


def test_the_worst_nearby_is_that_of_a_loop():
    f = spike_and_plateau(LINE)
    for eps in (0.0, 0.05, NEARBY, 2.0):
        np.testing.assert_array_equal(worst_nearby(f[None], neighbours(LINE, eps))[0], by_hand(f, eps))


def test_with_no_distance_it_is_gp_ucb():
    field = {"ours": ("stable-opt", {"eps": 0.0, "width": 2.0}), "theirs": ("gp-ucb", {"width": 2.0})}
    result = evaluate(SPIKES, field, trials=3)
    np.testing.assert_array_equal(result.actions["ours"], result.actions["theirs"])


def test_what_is_missing_is_no_choice_and_no_play_but_a_neighbour_that_is_feared():
    agent = agents.make("stable-opt", replace(SPIKES.setting(), volatile=True), eps=NEARBY, width=WIDE)
    agent.reset(0)
    agent.start({"action_mask": np.ones(40, np.int8)})
    rng, f, seen = np.random.default_rng(0), spike_and_plateau(LINE), np.zeros(1)
    for t in range(30):
        mask = agent.offered[0]
        mean, std = (each[0].copy() for each in (agent.belief.mean(seen.astype(int)), agent.belief.std([0])))
        action = agent.act(seen)
        worst = np.where(mask, by_hand(mean + WIDE * std, NEARBY), -np.inf)
        assert worst[agent.centre[0]] >= worst.max() - 1e-8
        playable = mask & (np.abs(LINE[:, 0] - LINE[agent.centre[0], 0]) <= NEARBY + 1e-9)
        assert playable[action]
        assert (mean - WIDE * std)[action] <= (mean - WIDE * std)[playable].min() + 1e-8
        offered = rng.random(40) < 0.3
        offered[rng.integers(40)] = True
        arrived = at_once(t, f[[action]])
        agent.update(seen, action, f[action], arrived | {"action_mask": offered.astype(np.int8)})


def test_it_recommends_the_plateau_and_gp_ucb_the_spike():
    env = BanditVectorEnv(SPIKES, 4, autoreset_mode="Disabled")
    found = {}
    for name, options in (("stable-opt", {"eps": NEARBY}), ("gp-ucb", {})):
        observation, _ = env.reset(seed=[1, 2, 3, 4])
        agent = started(agents.make(name, env.setting, num_trials=4, width=WIDE, **options), [0, 1, 2, 3])
        players.play(env, agent, observation, SPIKES.horizon)
        found[name] = agent.recommend().point[:, 0]
    np.testing.assert_allclose(found["stable-opt"], 0.7, atol=0.1)
    np.testing.assert_allclose(found["gp-ucb"], 0.2, atol=0.03)


def test_robust_regret_without_distance_is_regret():
    plain = evaluate(BENCH, ["gp-ucb"], trials=3, seed=5).regret["gp-ucb"]
    np.testing.assert_allclose(robust_regret(BENCH, "gp-ucb", 0.0, trials=3, seed=5), plain, atol=1e-10)


def test_robust_regret_grows_slower_than_that_of_gp_ucb():
    ours, theirs = (
        robust_regret(BENCH, (name, {"width": 2.0}), 0.05, trials=4).mean(axis=0)
        for name in ("stable-opt", "gp-ucb")
    )
    assert ours[-1] < 0.8 * theirs[-1]
    assert ours[-1] - ours[75] < 0.5 * (theirs[-1] - theirs[75])


@pytest.mark.parametrize(
    ("problem", "agent", "eps", "message"),
    [
        (build("contextual", {"horizon": 5}), "gp-ucb", 0.1, "problem must"),
        (SPIKES, lambda setting: None, 0.1, "agent must"),
        (SPIKES, "gp-ucb", -1.0, "eps must"),
    ],
)
def test_what_has_no_robust_regret_is_refused(problem, agent, eps, message):
    with pytest.raises(ValueError, match=message):
        robust_regret(problem, agent, eps)
