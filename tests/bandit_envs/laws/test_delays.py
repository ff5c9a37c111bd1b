"""Delays are as long as their laws say, for the same draw whatever is played, or feedback is lost."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from cases import by_hand
from scipy import stats

from bandit_envs import BanditEnv, Decisions, Problem
from bandit_envs.basics.options import parse
from bandit_envs.laws import Gaussian, NoNoise, RKHSFunction, delays
from bandit_envs.laws.delays import TAIL, Delay
from bandit_envs.laws.delays.waits import DelayInTime
from bandit_envs.problem.decisions import unit_grid

SPECS: dict[str, dict[str, Any]] = {name: {"law": name} for name in delays.LAWS}
SPECS["by-arm"] = {"law": "by-arm", "base": {"law": "poisson", "mean": 3}, "slowest": 2.5}
SPECS["by-arm, in time"] = {"law": "by-arm", "base": {"law": "exponential", "mean": 3}, "slowest": 4.0}
each_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


def law(spec: dict[str, Any]) -> Delay:
    return parse("delay", spec, delays.LAWS)


def problem(spec: dict[str, Any], *, horizon: int = 30, box: bool = False, **more: Any) -> Problem:
    decisions = Decisions(unit_grid(7), low=np.zeros(1), high=np.ones(1), continuous=box)
    usual = {"decisions": decisions, "reward": RKHSFunction(), "delay": law(spec), "horizon": horizon}
    return by_hand(**usual | more)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


class Floor:
    """The largest whole number below a positive variable."""

    def __init__(self, continuous: Any):
        self.continuous = continuous

    def cdf(self, k: float) -> float:
        return float(self.continuous.cdf(np.floor(k) + 1))

    def sf(self, k: float) -> float:
        return float(self.continuous.sf(np.floor(k) + 1))


def played_delays(spec: dict[str, Any], actions: Any, seed: int = 3, **more: Any) -> list[int]:
    env = BanditEnv(problem(spec, horizon=len(actions), **more))
    env.reset(seed=seed)
    return [env.step(action)[4]["oracle"]["delay"] for action in actions]


def test_synchronous_batches_arrive_together_and_asynchronous_ones_one_by_one():
    assert played_delays({"law": "cyclic", "batch": 3}, [0] * 7) == [2, 1, 0, 2, 1, 0, 2]
    assert played_delays({"law": "constant", "rounds": 2}, [0] * 7) == [2] * 7


# --- delays by arm ---


@pytest.mark.parametrize("base", [{"law": "poisson", "mean": 2}, {"law": "exponential", "mean": 2}])
def test_the_slower_arm_waits_longer_for_the_same_draw(base):
    spec = {"law": "by-arm", "base": base, "slowest": 3.0}
    plain = np.array(played_delays(base, [0] * 60, max_delay=59))
    fast, middle, slow = (np.array(played_delays(spec, [arm] * 60)) for arm in (0, 3, 6))
    np.testing.assert_array_equal(fast, plain)
    assert (fast <= middle).all()
    assert (middle <= slow).all()
    if base["law"] == "poisson":
        np.testing.assert_array_equal(slow, 3 * fast)
        np.testing.assert_array_equal(middle, 2 * fast)


def test_the_draw_behind_a_delay_does_not_depend_on_earlier_plays():
    spec = SPECS["by-arm"]
    first, second = (played_delays(spec, [arm] * 20 + [5])[-1] for arm in (0, 6))
    assert first == second


def test_a_point_of_a_box_is_as_slow_as_the_arm_that_lies_there():
    spec = SPECS["by-arm"]
    arms = rng().integers(7, size=40)
    actions = 2.0 * unit_grid(7)[arms] - 1.0
    assert played_delays(spec, actions, box=True) == played_delays(spec, arms)


# --- delays by reward ---

BY_REWARD = {"law": "by-reward", "mean": 4, "more": 30}


def test_a_better_reward_is_never_later_for_the_same_draw():
    env = BanditEnv(problem(BY_REWARD, horizon=400))
    env.reset(seed=3)
    trial: Any = env.simulator.trials[0]
    exact = {"max_delay": 399, "noise": NoNoise()}
    order = np.argsort(-trial.means[0, 0])
    found = [np.array(played_delays(BY_REWARD, [arm] * 400, **exact)) for arm in order]
    for better, worse in pairwise(found):
        assert (better <= worse).all()
    assert abs(found[0].mean() - 4.0) < 4.0 * np.sqrt(4.0 / 400)
    assert abs(found[-1].mean() - 34.0) < 4.0 * np.sqrt(34.0 / 400)


@pytest.mark.parametrize("mean", [0.3, 4.0, 30.0, 300.0])
def test_a_delay_by_reward_is_the_quantile_of_its_law_also_where_a_step_of_it_begins(mean):
    uniform = stats.poisson(mean).cdf(np.arange(3.0 * mean))
    uniform = np.append(uniform[uniform < 1.0], np.linspace(0.01, 0.99, 50))
    found = delays.ByReward(mean, 0.0).wait(uniform, np.zeros(len(uniform)), 0.0)
    np.testing.assert_array_equal(found, stats.poisson(mean).ppf(uniform))


def test_the_unit_of_the_reward_does_not_change_a_delay():
    one, other = (
        played_delays(BY_REWARD, np.arange(30) % 7, reward=RKHSFunction(norm=factor), noise=Gaussian(factor))
        for factor in (0.5, 512.0)
    )
    assert one == other


def test_no_arm_of_a_constant_function_falls_short():
    found = played_delays(BY_REWARD, [0] * 400, decisions=Decisions(np.array([[4.0]])))
    assert abs(np.mean(found) - 4.0) < 4.0 * np.sqrt(4.0 / 400)


def test_positive_rewards_alone_are_delivered_after_the_delays_of_the_other_law():
    spec = {"law": "constant", "rounds": 3}
    keywords = {"num_arms": 7, "horizon": 60, "max_delay": 59}
    found = {}
    for label, delay in {"all": spec, "some": {"law": "conversions", "base": spec}}.items():
        env = BanditEnv("clicks", delay=delay, **keywords)
        env.reset(seed=3)
        found[label] = np.array([env.step(t % 7)[4]["oracle"]["delay"] for t in range(60)])
        clicked = env.simulator.observed[0, :, 0] > 0
    assert 0 < clicked.sum() < 60
    np.testing.assert_array_equal(found["some"], np.where(clicked, found["all"], -1))


# --- delays in time ---


@pytest.mark.parametrize("interval", [0.25, 1.0, 3.0])
def test_feedback_in_time_is_known_when_the_first_round_after_it_starts(interval):
    spec = {"law": "log-normal", "mean": 2.0, "sigma": 1.0, "interval": interval}
    env = BanditEnv(problem(spec, horizon=50))
    env.reset(seed=0)
    times = env.setting.query_times
    assert times is not None
    np.testing.assert_allclose(times, interval * np.arange(50))
    trial: Any = env.simulator.trials[0]
    for s in range(50):
        _, _, _, _, info = env.step(0)
        r = s + info["oracle"]["delay"]
        if info["oracle"]["delay"] >= 0 and r < 49:
            assert times[s] + trial.wait[s] <= times[r + 1]  # it is known when round r + 1 starts
            assert r == s or times[s] + trial.wait[s] > times[r]  # and was not when round r did


@each_spec
def test_only_delays_in_time_publish_query_times(spec):
    described = law(spec)
    in_time = isinstance(getattr(described, "base", described), DelayInTime)
    assert (problem(spec).setting().query_times is not None) == in_time


@each_spec
def test_feedback_without_a_wait_comes_in_its_own_round_under_every_law(spec):
    assert not law(spec).in_rounds(np.zeros(2)).any()  # a simulator does not ask


def test_a_wait_of_exactly_one_interval_is_over_when_the_next_round_starts():
    waits = np.array([0.0, 0.5, 1.0, 1.5, 2.0, np.inf])
    np.testing.assert_array_equal(delays.Exponential().in_rounds(waits), [0, 0, 0, 1, 1, np.inf])


# --- distributions ---

# What a law's waits are distributed like, of the law as it is registered and of further parameters.
STATED: dict[str, list[tuple[Delay, Any]]] = {
    "immediate": [(delays.Immediate(), stats.randint(0, 1))],
    "constant": [(delays.Constant(4), stats.randint(4, 5))],
    "cyclic": [(delays.Cyclic(6), stats.randint(0, 6))],
    "poisson": [(delays.PoissonDelay(mean), stats.poisson(mean)) for mean in (0.0, 0.3, 3.0, 7.0, 200.0)],
    "geometric": [(delays.GeometricDelay(mean), stats.geom(1 / (1 + mean), loc=-1)) for mean in (4.0, 5.0)],
    "uniform": [(delays.UniformDelay(2, 8), stats.randint(2, 9))],
    "heavy-tailed": [
        (delays.HeavyTailed(tail, scale), Floor(stats.lomax(tail, scale=scale)))
        for tail, scale in ((0.5, 2.0), (1.0, 2.0), (2.0, 2.0), (4.0, 1.0))
    ],
    "exponential": [
        (delays.Exponential(4.0), stats.expon(scale=4.0)),
        (delays.Exponential(3.0, interval=0.5), stats.expon(scale=3.0)),
    ],
    "log-normal": [
        (delays.LogNormal(4.0, sigma=0.5), stats.lognorm(0.5, scale=4.0 * np.exp(-0.125))),
        (delays.LogNormal(3.0, sigma=0.7), stats.lognorm(0.7, scale=3.0 * np.exp(-0.245))),
    ],
    "by-arm": [(delays.DelayByArm({"law": "poisson", "mean": 3}), stats.poisson(3))],
    "by-reward": [(delays.ByReward(mean, more=0.0), stats.poisson(mean)) for mean in (0.0, 0.3, 7.0, 200.0)],
    "conversions": [(delays.Conversions({"law": "poisson", "mean": 3}), stats.poisson(3))],
}
stated = pytest.mark.parametrize(
    ("delay", "expected"),
    [pytest.param(*pair, id=f"{name}-{i}") for name, pairs in STATED.items() for i, pair in enumerate(pairs)],
)


def test_the_distribution_of_every_registered_law_is_stated():
    assert {name: type(pairs[0][0]) for name, pairs in STATED.items()} == delays.LAWS


@stated
def test_waits_have_the_stated_distribution(delay, expected):
    count = 40_000
    waits = delay.wait(delay.draw(count, rng()), np.ones(count), np.ones(count))
    assert waits.shape == (count,)
    assert (waits >= 0).all()
    for k in np.unique(np.quantile(waits, [0.01, 0.1, 0.5, 0.9, 0.99], method="lower")):
        chance = expected.cdf(k)
        error = np.sqrt(chance * (1 - chance) / count)
        assert abs((waits <= k).mean() - chance) <= 4 * error
        assert delay.query_times(5) is not None or k == np.floor(k)


@stated
def test_the_window_is_the_smallest_that_loses_less_than_a_millionth(delay, expected):
    slowest = getattr(delay, "slowest", 1.0)
    interval = getattr(delay, "interval", None)

    def lost(k: int) -> float:
        """P(d > k): a wait in time that ends with round k + 1 is still in time."""
        return expected.sf((k + 1) * interval) if interval else expected.sf(np.floor(k / slowest))

    window = delay.window(10**9)
    # Where the tail meets a millionth exactly, rounding decides.
    assert window == 10**9 - 1 or lost(window) <= TAIL * (1 + 1e-9)
    assert window == 0 or lost(window - 1) > TAIL * (1 - 1e-9)


@stated
@pytest.mark.parametrize("late", [1e-3, 0.05, 0.25, 0.4])
def test_a_quantile_is_the_smallest_wait_after_which_no_more_than_a_share_comes(delay, expected, late):
    slowest = getattr(delay, "slowest", 1.0)
    wait = delay.quantile(late) / slowest
    assert expected.sf(wait) <= late * (1 + 1e-9)
    shorter = wait * (1 - 1e-6) if delay.query_times(1) is not None else wait - 1
    assert wait == 0 or expected.sf(shorter) > late * (1 - 1e-9) or isinstance(delay, delays.Cyclic)


@stated
def test_what_is_delivered_by_some_round_is_the_stated_distribution(delay, expected):
    """Laws whose delays depend on arms or rewards have none of their own."""
    rounds, interval = np.arange(60.0), getattr(delay, "interval", None)
    delivered = delay.delivered_by(rounds)
    if isinstance(delay, delays.DelayByArm | delays.ByReward | delays.Conversions):
        assert delivered is None
    else:
        chance = [expected.cdf(k) for k in ((rounds + 1) * interval if interval else rounds)]
        np.testing.assert_allclose(delivered, chance, rtol=0, atol=1e-12)


def test_a_synchronous_batch_is_waited_for_whole():
    assert delays.Cyclic(100).quantile(0.05) == 99


@each_spec
def test_feedback_is_lost_with_the_stated_probability_and_the_other_waits_stay(spec):
    whole, lossy = law(spec).draw(20_000, rng(1)), law({**spec, "lost": 0.3}).draw(20_000, rng(1))
    gone = np.isinf(lossy)
    np.testing.assert_array_equal(lossy[~gone], whole[~gone])
    assert abs(gone.mean() - 0.3) < 4 * np.sqrt(0.3 * 0.7 / 20_000)
    assert law({**spec, "lost": 0.3}).window(500) == law(spec).window(500)
    assert np.isinf(law({**spec, "lost": 1}).draw(9, rng())).all()
