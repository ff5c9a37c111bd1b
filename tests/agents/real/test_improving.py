"""The agent whose goal is the best at the end: slopes, transforms, what it refuses, its second search."""

import numpy as np
import pytest
from players import at_once
from scipy.special import ndtri

import agents
from agents import Linear, Tuner
from agents.agent.assumptions import Fits
from agents.real.anew import NEAR, RETURNED, RETURNED_EACH, SURE, SURE_OF, Gains, Peak
from agents.real.posterior import (
    BoxPosterior,
    ImprovementSurface,
    MeanSurface,
    SurrogatePosterior,
    best_mean,
    log_improvement,
    with_pending,
)
from agents.real.priors import Parameters, exact_prior, usual_prior
from agents.real.surrogate import PointValues, Surrogate
from agents.real.values import HalfRank
from bandit_envs.problem.feedback import delivery
from bandit_envs.problem.setting import Setting
from gpbandits import evaluate

DIM, SEEN = 3, 12
NORMAL = ndtri((np.arange(200_000) + 0.5) / 200_000)  # quantiles of a standard normal law


def posterior(seed=0, more=0, exact=False):
    """Return the posterior of some values at random points; columns hold further points behind them."""
    rng = np.random.default_rng(seed)
    columns = rng.random((SEEN + more, DIM))
    none = np.zeros(len(columns), dtype=int)
    parameters = Parameters(columns, np.arange(DIM), none, 1, none[:DIM] > 0)
    prior = exact_prior(parameters) if exact else usual_prior(parameters)
    ones = np.ones(SEEN)
    seen = PointValues(np.arange(SEEN), ones, rng.standard_normal(SEEN), 0.0 * ones, ones)
    theta = prior.centre + 0.3 * rng.standard_normal(len(prior.centre))
    return SurrogatePosterior(Surrogate(parameters, prior), theta, seen)


def test_the_posterior_between_points_is_that_at_points():
    known = posterior(more=5)
    at, found = known.at(np.arange(SEEN + 5)), BoxPosterior(known).at(known.surrogate.parameters.columns)
    np.testing.assert_allclose(found.mean, at.mean, atol=1e-9)
    np.testing.assert_allclose(found.variance, at.known, atol=1e-9)


@pytest.mark.parametrize(
    ("kind", "noise"), [(ImprovementSurface, 0.0), (ImprovementSurface, 0.1), (MeanSurface, 0.0)]
)
def test_slopes_are_differences_of_scores(kind, noise):
    known = posterior()
    low, span = np.array([0.0, -1.0, 2.0]), np.array([1.0, 3.0, 0.5])
    surface = kind(BoxPosterior(known), best_mean(known), low, span, noise)
    arms = low + span * np.random.default_rng(1).random((6, DIM))
    scores, slopes = surface.climb(arms)
    np.testing.assert_allclose(scores, surface.scores(arms), atol=1e-9)
    step = 1e-6 * np.eye(DIM)
    ahead, behind = (
        np.column_stack([surface.scores(arms + sign * each) for each in step]) for sign in (1, -1)
    )
    np.testing.assert_allclose(slopes, (ahead - behind) / 2e-6, rtol=1e-4, atol=1e-4)


def test_with_noise_improvement_is_augmented_as_huang_et_al_write_it():
    gap, std, noise = np.array([-0.5, 0.0, 0.3]), np.array([0.4, 0.02, 0.1]), 0.2**2
    expected = [np.maximum(g + s * NORMAL, 0.0).mean() for g, s in zip(gap, std, strict=True)]
    factor = 1.0 - 0.2 / np.sqrt(std**2 + noise)
    np.testing.assert_allclose(log_improvement(gap, std**2, noise), np.log(expected * factor), atol=2e-3)
    np.testing.assert_allclose(log_improvement(gap, std**2, 0.0), np.log(expected), atol=2e-3)


def test_with_noise_the_best_point_is_left_although_its_improvement_is_the_largest():
    best, far = np.array([0.0, 0.02]), np.array([-1.0, 0.5])  # means over t*, and stds
    gap, variance = np.array([best[0], far[0]]), np.array([best[1], far[1]]) ** 2
    assert log_improvement(gap, variance, 0.0).argmax() == 0
    assert log_improvement(gap, variance, 0.1**2).argmax() == 1


def waves(x, y):
    """Six peaks, of std 1; the best one lies .29 above the next."""
    return np.sin(14 * x) + np.cos(11 * y) + 0.8 * x + 0.5 * y


def gap_of(seed):
    """Return what is lost where a tuner of 40 noisy experiments recommends to be."""
    rng, steps = np.random.default_rng([seed, 1]), np.linspace(0.0, 1.0, 201)
    tuner = Tuner({"x": (0.0, 1.0), "y": (0.0, 1.0)}, seed=seed, budget=40)
    tuner.optimise(lambda x, y: waves(x, y) + 0.1 * rng.standard_normal(), 40, progress=False)
    return waves(*np.meshgrid(steps, steps)).max() - waves(**tuner.recommend().parameters)


@pytest.mark.long
def test_noisy_values_do_not_hold_a_search_at_the_first_peak():
    assert sum(gap_of(seed) < 0.1 for seed in range(10)) >= 8


def test_a_known_noise_counts_before_anything_is_learnt():
    rng = np.random.default_rng(0)
    tuner = Tuner({"x": (0.0, 1.0)}, noise_std=1.0, seed=0)
    tuner.optimise(lambda x: 7.0 + rng.standard_normal(), 5, progress=False)
    low, high = tuner.recommend().interval
    assert low < 7.0 < high
    assert high - low > 2 * 1.96 / np.sqrt(5)  # of the mean of all values


def test_pending_plays_leave_means_and_lower_variances():
    known = posterior(more=3)
    both = with_pending(known, np.arange(SEEN, SEEN + 3))
    points = np.arange(SEEN + 3)
    np.testing.assert_allclose(both.at(points).mean, known.at(points).mean, atol=1e-7)
    np.testing.assert_allclose(
        both.at(points).known, known.at(points, np.arange(SEEN, SEEN + 3)).variance, atol=1e-7
    )


def test_the_best_mean_is_the_largest_at_the_points_seen():
    known = posterior()
    assert best_mean(known) == pytest.approx(known.at(np.arange(SEEN)).mean.max())


def ranked(values):
    values = np.asarray(values, dtype=float)
    ones, half = np.ones(len(values)), HalfRank()
    seen = PointValues(np.arange(len(values)), ones, values, 0.0 * ones, ones)
    half.learn(seen, [])
    return half, half.transformed(seen).mean


def test_of_the_worse_half_ranks_alone_count():
    values = np.array([5.0, 1.0, 3.0, 2.0, 4.0, 0.5])
    _, t = ranked(values)
    _, far = ranked(np.where(values < 1.0, -1e12, values))
    assert (np.argsort(t) == np.argsort(values)).all()
    np.testing.assert_allclose(t, far)
    half, _ = ranked(values)
    z = half.scaled(values)
    np.testing.assert_allclose(t[z >= 0.0], z[z >= 0.0])
    np.testing.assert_allclose(half.moments(t, 0.0 * t)[0], z)


def play(agent, f, n):
    """Play n rounds; return actions, and what was found."""
    agent.reset(0)
    found = []
    for t in range(n):
        action = agent.act(np.zeros(1))
        value = f(agent.setting.to_point(action))
        agent.update(np.zeros(1), action, value, at_once(t, value))
        found.append((np.array(agent.setting.to_point(action)), value))
    return found


def test_a_stuck_search_of_exact_values_begins_anew_elsewhere():
    setting = Setting(low=np.zeros(1), high=np.ones(1), horizon=70, noise_std=0.0)
    agent = agents.make("gp-agent", setting, goal="best")
    found = play(agent, lambda x: -((x[0] - 0.3) ** 2), 60)
    late = np.array([point[0] for point, _ in found[25:]])
    assert max(value for _, value in found[:25]) > -1e-6
    assert (np.abs(late - 0.3) > 0.1).sum() >= 5  # the first plays of a second search
    assert 0 < agent.record.count < agent.whole.count == 60  # the second search has values of its own
    assert agent.recommend().point[0] == pytest.approx(0.3, abs=0.02)  # of all values


@pytest.mark.parametrize("env_id", ["GPBandit-Delayed-v0", "GPBandit-Hartmann3-v0"])
def test_a_batch_of_trials_plays_as_its_trials_alone(env_id):
    best = {"best": ("gp-agent", {"goal": "best"})}
    together = evaluate(env_id, best, trials=2, env_kwargs={"horizon": 9}).actions["best"]
    for i in range(2):
        single = evaluate(env_id, best, trials=1, first_trial=i, env_kwargs={"horizon": 9}).actions["best"]
        np.testing.assert_array_equal(single[0], together[i])


def test_a_search_on_a_box_is_stuck_once_its_models_expect_nothing_in_turn():
    gains, point = Gains(0), np.zeros(6)
    for expected in (None, SURE - 1.0, SURE + 1.0, *[SURE - 1.0] * (SURE_OF - 1), None):  # some were given
        gains.add(0.0, point, expected)
        assert not gains.stuck(6)
    gains.add(0.0, point, SURE - 1.0)
    assert gains.stuck(6)


def test_a_search_that_gains_nothing_goes_on_while_its_model_expects_something():
    setting = Setting(low=np.zeros(3), high=np.ones(3), horizon=60, noise_std=0.0)
    agent = agents.make("gp-agent", setting, goal="best")
    rng = np.random.default_rng(0)
    found = play(agent, lambda x: 1.0 if len(agent.record.seen(0).point) == 6 else float(rng.random()), 60)
    assert max(value for _, value in found[7:]) < 1.0  # no gain in 50 values
    assert agent.record is agent.whole


def test_a_search_in_batches_ends_only_where_its_model_expected_nothing_when_it_asked(monkeypatch):
    told: list[tuple[float | None, bool]] = []  # what was expected of a value, and whether it ended a search
    stuck, add = Gains.stuck, Gains.add

    def noted(self, value, point, expected=None):
        told.append((expected, False))
        add(self, value, point, expected)

    def ended(self, dim):
        told[-1] = told[-1][0], stuck(self, dim)
        return told[-1][1]

    monkeypatch.setattr(Gains, "add", noted)
    monkeypatch.setattr(Gains, "stuck", ended)
    monkeypatch.setattr(Gains, "_climbs", lambda self, peak: False)
    setting = Setting(low=np.zeros(1), high=np.ones(1), horizon=60, noise_std=0.0, max_delay=3)
    agent = agents.make("gp-agent", setting, goal="best")
    agent.reset(0)
    asked: dict[int, float] = {}  # log EI when a point was chosen
    for first in range(0, 60, 4):
        values = []
        for t in range(first, first + 4):
            action = agent.act(np.zeros(1))
            if agent.found and len(agent.found[-1]) == 1:
                asked[t] = agent.found[-1][0]
            values.append(-((agent.setting.to_point(action)[0] - 0.3) ** 2))
            late = t == first + 3
            rounds = np.arange(first, first + 4) if late else np.arange(0)
            info = delivery(
                t, rounds, np.array(values if late else []), np.empty((len(rounds), 0)), t - first
            )
            agent.update(np.zeros(1), action, np.nan, info)
    ends = [i for i, (_, end) in enumerate(told) if end]
    assert ends
    for i in ends:
        assert max(each for each, _ in told[i + 1 - SURE_OF : i + 1]) < SURE
    assert {each for each, _ in told if each is not None} <= set(asked.values())


def test_a_tuner_goes_on_with_the_search_of_its_agent_however_many_values_there_are():
    tuner = Tuner({"x": Linear(0.0, 1.0)}, noise_std=0.0, budget=80, seed=0)
    tuner.optimise(lambda x: -((x - 0.3) ** 2), 70)
    agent = tuner._player.agent
    assert agent.round == 69
    assert len(agent._gains.peaks) > 1  # ends of searches at 8 to 63 values were not forgotten at 64


def test_notes_without_a_number_where_nothing_can_fail_are_refused():
    found = Fits()
    with found.replaying([[1.0], None]):
        assert found.numbers(lambda: [2.0], 1) == [1.0]
        with pytest.raises(ValueError, match="must be 1 numbers, got None"):
            found.numbers(lambda: [2.0], 1)


def test_a_question_for_advice_does_not_end_a_search():
    setting = Setting(low=np.zeros(1), high=np.ones(1), horizon=70, noise_std=0.0)

    def values(advised: bool) -> list[float]:
        agent = agents.make("gp-agent", setting, goal="best")

        def value(x: np.ndarray) -> float:
            if advised:
                agent.recommend()
            return -((x[0] - 0.3) ** 2)

        found = play(agent, value, 40)
        assert agent.record is not agent.whole
        return [each for _, each in found]

    assert values(advised=True) == values(advised=False)


def test_a_search_that_climbs_a_known_peak_again_begins_anew_at_once():
    dim, at = 2, np.array([0.4, 0.7])
    fresh = RETURNED + RETURNED_EACH * dim
    known = Peak(1.0, at)
    elsewhere = at + np.array([0.0, 1.5 * NEAR])

    def searched(best: float, point: np.ndarray, values: int, peaks=(known,)) -> Gains:
        gains = Gains(0, peaks)
        for each in np.linspace(0.0, 0.5, values - 1):  # never flat for long
            gains.add(float(each), np.zeros(dim))
        gains.add(best, point)
        return gains

    assert searched(0.9, at, fresh).stuck(dim)
    assert searched(1.0, at + 0.9 * NEAR, fresh).stuck(dim)
    assert not searched(0.9, at, fresh - 1).stuck(dim)  # a first point may lie near by chance
    assert not searched(1.2, at, fresh).stuck(dim)  # a gain
    assert not searched(0.9, elsewhere, fresh).stuck(dim)
    assert not searched(0.9, at, fresh, peaks=()).stuck(dim)


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0, 2.0], [0.0, 1.0], [1.0, 1.0, 3.0]])
def test_ranks_of_few_or_equal_values_are_finite(values):
    _, t = ranked(values)
    assert np.isfinite(t).all()


@pytest.mark.parametrize(
    ("setting", "options", "words"),
    [
        ({"contexts": np.array([[0.0], [1.0]])}, {}, "contexts"),
        ({"num_constraints": 1}, {}, "costs"),
        ({"budget": 3.0}, {}, "a budget"),
        ({}, {"rule": "ei"}, "parts"),
        ({}, {"goal": "worst"}, '"regret" or "best"'),
    ],
)
def test_what_it_does_not_play_is_an_error(setting, options, words):
    given = Setting(arms=np.linspace(0, 1, 5)[:, None], horizon=9, **setting)
    with pytest.raises(ValueError, match=words):
        agents.make("gp-agent", given, **{"goal": "best", **options})


def test_a_value_whose_square_is_no_number_is_refused_without_a_trace():
    setting = Setting(arms=np.linspace(0, 1, 30)[:, None], horizon=8)
    agent = agents.make("gp-agent", setting, goal="best")
    agent.reset(0)
    action = agent.act(np.zeros(1))
    huge, usual = (at_once(0, value) for value in (-1e300, 1.0))
    with pytest.raises(ValueError, match=r"feedback_reward must be at most 1e\+140"):
        agent.update(np.zeros(1), action, -1e300, huge)
    agent.update(np.zeros(1), action, 1.0, usual)


def test_the_first_choice_is_among_the_arms_that_the_first_round_has():
    setting = Setting(arms=np.linspace(0, 1, 30)[:, None], horizon=8, noise_std=0.1, volatile=True)
    agent = agents.make("gp-agent", setting, goal="best")
    for arm in (3, 17):
        agent.reset(0)
        agent.start({"action_mask": (np.arange(30) == arm).astype(np.int8)})
        assert agent.act(np.zeros(1)) == arm
