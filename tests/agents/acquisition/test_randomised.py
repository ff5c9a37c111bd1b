"""Rules that explore by chance: how far, over which sample, and what bounds their expected regret."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from players import play
from sklearn.gaussian_process.kernels import DotProduct

import agents
from agents.acquisition.by_name import RULES
from agents.acquisition.randomised import EIMS, PIMS, CompactSize, FiniteSize, OfSize, squared_width
from agents.acquisition.rules import ExpectedImprovement
from agents.agent.candidate_views import ArmsView
from agents.model.model import Model
from agents.model.rounds import Delivery
from agents.registry import resolve_agent
from agents.widths.base import FixedWidth, mean_width
from agents.widths.information_gain import upper_bound
from bandit_envs import Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.problems.synthetic import synthetic
from gpbandits.evaluation import evaluate
from gpbandits.theory.regret import bayesian_bound

NUM_ARMS = 40
PRIOR = synthetic(function="gp", kernel="matern52", num_arms=NUM_ARMS, horizon=60, noise_std=0.3)
LINEAR = DotProduct(sigma_0=0.0, sigma_0_bounds="fixed")
BOX = Setting(
    low=np.zeros(1), high=np.ones(1), horizon=10, kernel=make_kernel("rbf"), noise_std=0.1, rkhs_bound=1.0
)


def view_of(agent: Any) -> ArmsView:
    """What the agent's rule would see in the coming round."""
    return ArmsView(agent, agent.belief, np.zeros(1, dtype=np.int64))


def halfway(name: Any, rounds: int = 15) -> Any:
    """An agent in the middle of a trial."""
    env = gym.make("GPBandit-GP-v0", num_arms=NUM_ARMS, horizon=rounds)
    observation, _ = env.reset(seed=4)
    agent = resolve_agent(name)(env.get_wrapper_attr("setting"))
    agent.reset(1)
    play(env, agent, observation, rounds)
    return agent


def squares(count: int, size: int) -> Any:
    log_size = FiniteSize(count)(np.ones(size, dtype=np.int64))
    return squared_width(log_size, np.random.default_rng(0).standard_exponential(size))


def test_the_square_has_the_mean_that_the_constant_width_has():
    drawn = squares(NUM_ARMS, 40_000)
    assert abs(drawn.mean() - (2.0 + 2.0 * np.log(NUM_ARMS / 2))) <= 4.0 * drawn.std() / 200.0
    assert mean_width(NUM_ARMS) ** 2 == pytest.approx(2.0 + 2.0 * np.log(NUM_ARMS / 2), rel=1e-14)


def test_the_square_of_the_largest_deviation_is_stochastically_below_the_drawn_one():
    draws = np.random.default_rng(1).standard_normal((4000, len(PRIOR.gram.root))) @ PRIOR.gram.root
    largest = np.sort(np.maximum(draws.max(axis=1), 0.0) ** 2)
    drawn = np.sort(squares(NUM_ARMS, 4000))
    assert np.all(largest[:3900] < drawn[:3900])  # the highest quantiles of finitely many are noise


def test_a_width_is_drawn_anew_in_every_round_and_is_the_same_for_all_arms_of_one():
    agent = halfway("irgp-ucb")
    widths = []
    for agent.round in (7, 8, 7):
        view = view_of(agent)
        widths.append((agent.rule(view) - view.mean) / view.std)
        np.testing.assert_allclose(widths[-1], widths[-1][0, 0], rtol=1e-9)
    assert widths[0][0, 0] == widths[2][0, 0] != widths[1][0, 0]


@pytest.mark.parametrize("name", ["ucb", "irgp", "dmm"])
def test_what_pending_feedback_adds_is_added_to_the_width(name, monkeypatch):
    agent = halfway(("gp-agent", {"rule": name}))
    view = view_of(agent)
    before = agent.rule(view)
    monkeypatch.setattr(ArmsView, "bias", np.full((1, 1), 2.0))
    raised = agent.rule(view_of(agent)) - before
    ridges = [2.0 * ridge.std for ridge in view.ridges]
    assert np.all(raised >= np.min(ridges, axis=0) - 1e-12)
    assert np.all(raised <= np.max(ridges, axis=0) + 1e-12)


def test_pims_plays_the_upper_bound_whose_width_its_sample_asks_for():
    agent = halfway("pims")
    for seed in range(20):
        agent.samplers[0] = np.random.default_rng(seed)
        view = view_of(agent)
        arm = PIMS()(view).argmax()
        agent.samplers[0] = np.random.default_rng(seed)
        largest = (view.mean + view.centred_sample()).max()
        width = ((largest - view.mean) / view.std).min()
        assert arm == (view.mean + width * view.std).argmax()


def test_eims_is_expected_improvement_on_the_sample_s_maximum(monkeypatch):
    agent = halfway("eims")
    agent.samplers[0] = np.random.default_rng(3)
    scores = EIMS()(view_of(agent))
    agent.samplers[0] = np.random.default_rng(3)
    largest = view_of(agent).sampled_maximum()
    monkeypatch.setattr(ArmsView, "incumbent", largest)
    np.testing.assert_array_equal(scores, ExpectedImprovement()(view_of(agent)))


class Known:
    """Three arms without uncertainty, two of which have the sample's largest value."""

    mean, std = np.array([[1.0, 2.0, 2.0]]), np.zeros((1, 3))

    def sampled_maximum(self) -> Any:
        return np.array([[2.0]])


def test_what_is_known_to_be_the_maximum_scores_zero_in_pims():
    np.testing.assert_array_equal(PIMS()(Known()), [[-np.inf, 0.0, 0.0]])  # type: ignore[arg-type]
    np.testing.assert_array_equal(PIMS().slopes(Known()).mean, 0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", RULES)
def test_a_rule_whose_scores_are_random_says_so(name):
    agent = halfway(("gp-agent", {"rule": name}))

    def scores(seed: int) -> Any:
        return agent.rule(view_of(agent).drawn_by([np.random.default_rng(seed)]))

    assert getattr(agent.rule, "draws", False) != np.array_equal(scores(0), scores(1))


def test_the_size_is_that_of_the_decision_set():
    arms = Setting(
        arms=np.linspace(0, 1, 20)[:, None],
        contexts=np.linspace(0, 1, 3)[:, None],
        horizon=10,
        kernel=make_kernel("rbf", [0.2, 0.2]),
    )
    assert OfSize()(Model.of(arms)).log_size == FiniteSize(20)  # not 60: the best arm is that of a context
    composed: Any = agents.compose(arms, rule="irgp", rule_options={"size": 7})
    assert composed.rule.log_size == OfSize(7)(Model.of(arms)).log_size == FiniteSize(7)
    assert OfSize()(Model.of(BOX)).log_size == FiniteSize(512)
    assert agents.gp_ucb(arms, width="constant").rule.width == FixedWidth(mean_width(20))  # type: ignore[union-attr]


def test_the_size_of_a_box_grows_with_the_rounds():
    size = OfSize("compact")(Model.of(BOX)).log_size
    assert isinstance(size, CompactSize)
    side = size.b * (np.sqrt(np.log(size.a)) + np.sqrt(np.pi) / 2.0)
    np.testing.assert_allclose(size(np.array([1, 10])), np.log(side) + np.log([1.0, 100.0]), rtol=1e-13)


@pytest.mark.parametrize("name", ["pims", "eims"])
def test_all_candidates_of_a_round_on_a_box_are_held_against_one_sample(name, monkeypatch):
    agent = resolve_agent((name, {"search": {"candidates": 32, "starts": 2, "steps": 3}}))(BOX)
    agent.reset(0)
    point = agent.domain.numbers(agent, np.zeros(1), np.zeros(1))
    agent.belief.receive(Delivery.of_values(np.zeros(1, dtype=np.int64), point, np.ones(1)))
    rule, seen = type(agent.rule), []

    def watched(self: Any, candidates: Any) -> Any:
        seen.append(candidates.sampled_maximum()[0, 0])
        return original(self, candidates)

    original = rule.__call__
    monkeypatch.setattr(rule, "__call__", watched)
    first = agent.act(np.zeros(1))
    assert len(seen) > 2
    assert len(set(seen)) == 1
    agent.round += 1
    assert agent.act(np.zeros(1)) != first
    assert len(set(seen)) == 2


def test_the_constant_width_is_the_root_of_the_mean_square():
    rule = agents.make("gp-ucb", PRIOR.setting(), width="constant").rule
    assert rule.width(np.array([9]), np.zeros(1))[0] == mean_width(NUM_ARMS)
    with pytest.raises(ValueError, match='width must be "amm" or a number on a box'):
        agents.make("gp-ucb", BOX, width="constant")


@pytest.mark.parametrize(
    ("spec", "returns"), [(("gp-ucb", {"width": "constant"}), False), ("irgp-ucb", True)]
)
def test_a_constant_width_gives_an_arm_up_for_good_and_a_drawn_one_comes_back(spec, returns):
    """Of a known arm of value 0 and an unknown one that was unlucky once: the first loses linearly."""
    two = Setting(arms=np.array([[0.0], [1.0]]), horizon=10, kernel=LINEAR, noise_std=1.0)
    agent = resolve_agent(spec)(two)
    agent.reset(0)
    agent.belief.receive(
        Delivery.of_values(np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64), np.full(1, -3.0))
    )
    played = []
    for agent.round in range(200):
        played.append(agent.act(np.zeros(1)))
    assert (1 in played) == returns


BOUNDED: dict[str, Any] = {"irgp-ucb": "irgp-ucb", "pims": "pims", "thompson": ("gp-ts", {"width": 1.0})}


def test_the_square_of_one_arm_is_never_negative():
    drawn = squares(1, 1000)
    assert drawn.min() == 0.0
    assert drawn.max() > 1.0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", BOUNDED)
def test_mean_regret_stays_under_the_common_bound(name):
    regret = evaluate(PRIOR, {"it": BOUNDED[name]}, trials=16).regret["it"].mean(axis=0)
    rounds = np.arange(1, 61)
    gamma = upper_bound(PRIOR.gram, 0.09, 60)(rounds, np.zeros(60))
    assert np.all(regret <= bayesian_bound(rounds, NUM_ARMS, gamma, 0.09))
