"""Acquisition rules, accurate improvement and the choice among ties."""

import copy
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
import references
from scipy.special import log_ndtr

import agents
from agents.acquisition.improvement import (
    ERFCX_LIMIT,
    improvement_climbed,
    log_expected_improvement,
    mills_ratio,
)
from agents.acquisition.randomised import EIMS, IRGPUCB, PIMS, FiniteSize
from agents.acquisition.rules import (
    UCB,
    ExpectedImprovement,
    PosteriorMean,
    PosteriorVariance,
    ProbabilityOfImprovement,
    RandomUCB,
    Thompson,
)
from agents.model.choice import BLOCK, TieBreaker, argmax_with_ties
from agents.widths.base import FiniteSetWidth, FixedWidth
from bandit_envs import Setting
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.kernels import make_kernel
from gpbandits import check_agent, evaluate
from gpbandits.evaluation.rehearsal import AgentCheckError, as_many_arms


class Fixed(NamedTuple):
    """Candidates of known values."""

    mean: Floats
    std: Floats
    t: Ints
    gain: Floats
    incumbent: Floats
    bias: Floats
    centred_sample: Callable[[], Floats]

    def sample(self, factor=1.0):
        return self.mean + factor * self.centred_sample()

    def sampled_maximum(self) -> Floats:
        return (self.mean + self.centred_sample()).max(axis=1, keepdims=True)

    @property
    def rngs(self) -> list[np.random.Generator]:
        return [np.random.default_rng(int(t)) for t in self.t[:, 0]]


RULES = {
    "ucb": UCB(FiniteSetWidth(7)),
    "thompson": Thompson(FiniteSetWidth(7)),
    "ei": ExpectedImprovement(0.1),
    "pi": ProbabilityOfImprovement(0.1),
    "irgp": IRGPUCB(FiniteSize(7)),
    "pims": PIMS(),
    "eims": EIMS(),
    "mean": PosteriorMean(),
    "variance": PosteriorVariance(),
}


@pytest.fixture
def candidates():
    rng = np.random.default_rng(0)
    sample = rng.normal(size=(4, 7))
    return Fixed(
        mean=rng.normal(size=(4, 7)),
        std=rng.uniform(0.1, 1.0, size=(4, 7)),
        t=np.array([[1], [5], [9], [100]]),
        gain=np.array([[0.0], [1.0], [2.0], [3.0]]),
        incumbent=rng.normal(size=(4, 1)),
        bias=np.array([[0.0], [0.5], [0.0], [2.0]]),
        centred_sample=lambda: sample,
    )


# --- rules ---


def test_ucb_and_thompson_add_the_width_times_the_spread(candidates):
    width = FiniteSetWidth(7)(candidates.t, candidates.gain) + candidates.bias
    ucb, thompson = RULES["ucb"](candidates), RULES["thompson"](candidates)
    np.testing.assert_allclose(ucb, candidates.mean + width * candidates.std, rtol=1e-15)
    np.testing.assert_allclose(thompson, candidates.mean + width * candidates.centred_sample(), rtol=1e-15)


def test_expected_improvement_is_the_textbook_formula(candidates):
    expected = references.expected_improvement(candidates.mean, candidates.std, candidates.incumbent + 0.1)
    np.testing.assert_allclose(np.exp(RULES["ei"](candidates)), expected, rtol=1e-11)


def test_probability_of_improvement_ranks_like_the_probability(candidates):
    scores = RULES["pi"](candidates)
    gap = candidates.mean - candidates.incumbent - 0.1
    np.testing.assert_array_equal(np.argsort(scores), np.argsort(log_ndtr(gap / candidates.std)))


SLOPING = {  # a sampled maximum moves with the mean here, but not on a box
    name: rule
    for name, rule in RULES.items()
    if hasattr(rule, "slopes") and not getattr(rule, "draws", False)
}
SLOPING["random"] = RandomUCB(FixedWidth(2.0))


@pytest.mark.parametrize("rule", SLOPING.values(), ids=SLOPING)
def test_slopes_are_those_of_finite_differences(rule, candidates):
    slopes, step = rule.slopes(candidates), 1e-6
    for name in ("mean", "std"):
        slope, value = getattr(slopes, name), getattr(candidates, name)
        above, below = (rule(candidates._replace(**{name: value + each})) for each in (step, -step))
        expected = np.broadcast_to((above - below) / (2 * step), value.shape)
        np.testing.assert_allclose(np.broadcast_to(slope, value.shape), expected, rtol=1e-5, atol=1e-7)
    if slopes.scores is not None:
        np.testing.assert_array_equal(slopes.scores, rule(candidates))


@pytest.mark.parametrize("name", sorted(RULES))
def test_a_rule_leaves_the_beliefs_alone(name, candidates):
    before = copy.deepcopy(candidates._replace(centred_sample=None))
    sample = candidates.centred_sample().copy()
    RULES[name](candidates)[:] = 0.0
    np.testing.assert_equal(candidates._replace(centred_sample=None), before)
    np.testing.assert_array_equal(candidates.centred_sample(), sample)


@pytest.mark.parametrize("rule", [ExpectedImprovement, ProbabilityOfImprovement])
def test_a_negative_least_improvement_is_named(rule):
    with pytest.raises(ValueError, match=r"^xi must be 0 or positive"):
        rule(-0.1)


def test_known_candidates_have_their_own_improvement(candidates):
    known = candidates._replace(mean=candidates.mean * 0 + [-1, 0, 2, 3, 0, 0, 0], std=candidates.std * 0)
    known = known._replace(incumbent=np.zeros((4, 1)))
    expected = [-np.inf, -np.inf, np.log(2), np.log(3), -np.inf, -np.inf, -np.inf]
    np.testing.assert_array_equal(ExpectedImprovement()(known), [expected] * 4)
    certain = [-np.inf, -np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf]
    np.testing.assert_array_equal(ProbabilityOfImprovement(0.0)(known), [certain] * 4)


# --- improvement ---


def log_h(z):
    """log E[max(z + Z, 0)], Z ~ N(0, 1)."""
    return log_expected_improvement(z, np.ones_like(z))


def test_log_improvement_agrees_with_quadrature():
    for z in (-30.0, -12.0, -3.0, -1.0 - 1e-9, -1.0, 0.0, 2.0, 9.0):
        assert log_h(np.array([z]))[0] == pytest.approx(references.log_improvement(z), rel=1e-9)


def test_log_improvement_is_continuous_where_its_forms_meet():
    for z in (-1.0, -ERFCX_LIMIT):
        below, at, above = log_h(np.nextafter([z, z, z], [-np.inf, z, np.inf]))
        assert below == pytest.approx(at, rel=1e-14, abs=1e-11)
        assert above == pytest.approx(at, rel=1e-14, abs=1e-11)


def test_log_improvement_has_its_leading_terms_at_the_extremes():
    far = np.array([-1e3, -1e4, -1e6, -1e12])
    leading = -0.5 * far**2 - 0.5 * np.log(2 * np.pi) - 2 * np.log(-far)
    np.testing.assert_allclose(log_h(far), leading, rtol=1e-11)
    np.testing.assert_allclose(log_h(np.array([40.0, 1e6])), np.log([40.0, 1e6]), rtol=1e-15)


def test_slopes_of_log_improvement_have_their_leading_terms_at_the_extremes():
    far = np.array([1e3, 1e5, 1e7, 1e8, 1e9, 1e10, 1e100])
    _, in_gap, in_std = improvement_climbed(-2.0 * far, np.full(7, 2.0))
    np.testing.assert_allclose(in_gap, (far + 2.0 / far) / 2.0, rtol=1e-10)
    np.testing.assert_allclose(in_std, (far**2 + 3.0) / 2.0, rtol=1e-10)
    _, in_gap, in_std = improvement_climbed(far, np.ones(7))
    np.testing.assert_allclose(in_gap, 1.0 / far, rtol=1e-13)
    np.testing.assert_array_equal(in_std, 0.0)


def test_log_improvement_rises_with_z_everywhere():
    z = np.concatenate([-np.logspace(6, -3, 3000), np.logspace(-3, 6, 3000)])
    assert np.all(np.diff(log_h(z)) > 0)


# --- ties ---


def test_the_maximum_is_played_where_it_is_alone():
    scores = np.random.default_rng(2).normal(size=(50, 20))
    uniform = np.random.default_rng(3).random(50)
    choice = argmax_with_ties(scores, 1e-9, uniform)
    np.testing.assert_array_equal(choice, scores.argmax(axis=1))
    assert choice.dtype == np.int64


def test_ties_within_the_tolerance_are_drawn_by_the_uniform():
    scores = np.array(
        [[0.0, 1.0, 1.0 - 1e-12, 0.5, 1.0], [3.0, 0.0, 0.0, 0.0, 0.0], [2.0, 2.0, 0.0, 2.0, 2.0]]
    )
    np.testing.assert_array_equal(argmax_with_ties(scores, 1e-9, np.array([0.0, 0.9, 0.2])), [1, 0, 0])
    np.testing.assert_array_equal(argmax_with_ties(scores, 1e-9, np.array([0.34, 0.0, 0.3])), [2, 0, 1])
    np.testing.assert_array_equal(argmax_with_ties(scores, 1e-9, np.array([0.99, 0.5, 0.99])), [4, 0, 4])


def test_every_trial_may_have_its_own_tolerance():
    scores = np.array([[1.0, 1.1], [1.0, 1.1]])
    np.testing.assert_array_equal(argmax_with_ties(scores, np.array([0.01, 0.5]), np.zeros(2)), [1, 0])


def test_ties_are_drawn_evenly_up_to_the_largest_uniform():
    scores, draws = np.array([0.0, 1.0, 1.0, 1.0]), 3000
    choice = argmax_with_ties(np.tile(scores, (draws, 1)), 1e-9, (np.arange(draws) + 0.5) / draws)
    np.testing.assert_array_equal(np.bincount(choice), [0, 1000, 1000, 1000])
    assert argmax_with_ties(np.zeros((1, 999)), 1e-9, np.array([1.0 - 2**-53]))[0] == 998


def test_a_row_without_hope_is_one_tie_and_certain_gains_tie_too():
    scores = np.array([[-np.inf] * 4, [np.inf, 0.0, np.inf, -np.inf]])
    np.testing.assert_array_equal(argmax_with_ties(scores, 1e-9, np.array([0.6, 0.6])), [2, 2])


@pytest.mark.parametrize("num_trials", [1, 2])
@pytest.mark.parametrize(
    "kind",
    [
        lambda scores: scores,
        lambda scores: scores.astype(np.int64),
        lambda scores: scores.astype(np.float32),
        lambda scores: np.asfortranarray(scores),
        lambda scores: np.broadcast_to(scores[:1], scores.shape),
    ],
    ids=["floats", "integers", "short floats", "columns", "read only"],
)
def test_scores_of_any_kind_are_as_before_in_the_end(num_trials, kind):
    scores = kind(np.array([[1.0, 5.0, 2.0], [1.0, 5.0, 5.0]])[:num_trials])
    before = scores.copy()
    np.testing.assert_array_equal(argmax_with_ties(scores, 1e-9, np.zeros(num_trials)), [1, 1][:num_trials])
    np.testing.assert_array_equal(scores, before)


def test_a_nan_is_an_error_that_names_the_trial():
    scores = np.zeros((3, 4))
    scores[1, 2] = np.nan
    with pytest.raises(ValueError, match="agent computed NaN in trial 1"):
        argmax_with_ties(scores, 1e-9, np.zeros(3))


def test_ties_of_a_batch_are_broken_as_in_single_trials():
    rng = np.random.default_rng(4)
    scores, uniform = rng.integers(3, size=(40, 12)).astype(float), rng.random(40)
    singles = [argmax_with_ties(scores[i : i + 1], 1e-9, uniform[i : i + 1])[0] for i in range(40)]
    np.testing.assert_array_equal(argmax_with_ties(scores, 1e-9, uniform), singles)


def test_the_tie_breaker_of_a_trial_is_its_own_stream():
    batch = TieBreaker([np.random.default_rng(seed) for seed in range(3)])
    single = TieBreaker([np.random.default_rng(1)])
    drawn = np.array([batch() for _ in range(2 * BLOCK + 5)])
    assert drawn.shape == (2 * BLOCK + 5, 3)
    np.testing.assert_array_equal(drawn[:, 1], [single()[0] for _ in range(2 * BLOCK + 5)])
    np.testing.assert_array_equal(drawn[:, 1], np.random.default_rng(1).random(2 * BLOCK + 5))


def test_a_copied_tie_breaker_continues_alike():
    breaker = TieBreaker([np.random.default_rng(0)])
    breaker()
    twin = copy.deepcopy(breaker)
    np.testing.assert_array_equal([breaker() for _ in range(BLOCK + 3)], [twin() for _ in range(BLOCK + 3)])


@pytest.mark.parametrize("z", [-300.0, -60.0, -49.0, -8.0, -1.5, -0.9, 0.0, 2.0, 30.0])
def test_slopes_of_the_log_improvement_are_those_of_finite_differences(z):
    std, step = np.array([0.7]), 1e-6
    gap = z * std
    _, in_gap, in_std = improvement_climbed(gap, std)
    by_gap = log_expected_improvement(gap + step, std) - log_expected_improvement(gap - step, std)
    by_std = log_expected_improvement(gap, std + step) - log_expected_improvement(gap, std - step)
    np.testing.assert_allclose(in_gap, by_gap / (2 * step), rtol=1e-4)
    np.testing.assert_allclose(in_std, by_std / (2 * step), rtol=1e-4, atol=1e-8)


def test_a_certain_improvement_has_the_slope_of_its_logarithm():
    _, in_gap, in_std = improvement_climbed(np.array([0.5, -0.5]), np.zeros(2))
    np.testing.assert_array_equal(in_gap, [2.0, 0.0])
    np.testing.assert_array_equal(in_std, [0.0, 0.0])


def test_the_slopes_bring_the_log_improvement_itself():
    rng = np.random.default_rng(0)
    gap, std = rng.standard_normal((4, 200)) * 10.0 ** rng.integers(-3, 160, 200), rng.random((1, 200))
    std[0, ::7] = 0.0
    scores, _, _ = improvement_climbed(gap, std)
    np.testing.assert_array_equal(scores, log_expected_improvement(gap, std))


def test_the_mills_ratio_overflows_without_a_warning():
    x = np.linspace(-40.0, -36.0, 20_001)  # erfcx is still finite at some where its multiple is not
    ratio = mills_ratio(x)
    assert np.isinf(ratio[0])
    assert np.isfinite(ratio[-1])
    assert (np.diff(ratio[np.isfinite(ratio)]) < 0).all()


# --- numbers of a trial beside those of its arms ---


def gained(candidates):
    """A rule as its author writes the formula: a number of each trial times one of each arm."""
    return candidates.mean + candidates.gain * candidates.std + (candidates.t + candidates.incumbent)


@pytest.mark.parametrize("trials", [2, 5])
def test_numbers_of_a_trial_combine_with_those_of_its_arms_also_where_there_are_as_many(trials):
    keywords = {"env_kwargs": {"num_arms": 5, "horizon": 15, "noise_std": 0.3}, "trials": trials}
    batch = evaluate("GPBandit-GP-v0", {"it": ("gp-agent", {"rule": gained})}, **keywords)
    single = {"it": lambda setting: agents.make("gp-agent", setting, rule=gained)}
    alone = evaluate("GPBandit-GP-v0", single, **keywords)
    np.testing.assert_array_equal(batch.actions["it"], alone.actions["it"])


@pytest.mark.parametrize("rule", [lambda c: c.mean[0], lambda c: c.mean[:, :, None], lambda c: c.mean[:, 1:]])
def test_scores_of_another_shape_are_refused(rule):
    agent = agents.make(
        "gp-agent", Setting(arms=np.linspace(0, 1, 5)[:, None], kernel=make_kernel("rbf")), 5, rule=rule
    )
    agent.reset(range(5))
    with pytest.raises(ValueError, match=r"rule must return scores of shape \(5, 5\), got"):
        agent.act(np.zeros((5, 1)))


def mixed(candidates):
    """Takes a number of each trial for one of each arm; of one trial it is right."""
    return candidates.mean + candidates.mean.max(axis=1) * candidates.std


def test_a_rule_that_mixes_up_trials_and_arms_is_found_out():
    spec, square = ("gp-agent", {"rule": mixed}), {"square": as_many_arms(3)}
    with pytest.raises(AgentCheckError, match="a batch plays what its trials play alone"):
        check_agent(spec, square)
    assert "as many arms as trials" in check_agent("random")
