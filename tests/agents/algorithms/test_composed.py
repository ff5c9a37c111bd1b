"""Agents of named parts: the parts are those of the named algorithms, and any of them go together."""

from itertools import product

import gymnasium as gym
import numpy as np
import pytest
from agent_cases import batch_as_singles
from players import started
from sklearn.gaussian_process.kernels import RBF

import agents
import bandit_envs  # noqa: F401 (registers the ids)
from agents.acquisition.by_name import RULES, UNITLESS
from agents.algorithms.composed import IMPROVING
from agents.beliefs.by_name import BELIEFS
from agents.beliefs.imputed import Hallucinated
from agents.kernels.amplitude import InContext, without_contexts
from agents.objectives.base import Reward
from agents.objectives.by_name import APART, CONSTRAINTS
from agents.objectives.penalised import Penalised
from agents.objectives.penalties import LinearDual, Multiplicative, Multipliers
from agents.objectives.primal_dual import Rectified
from agents.restarts.base import Never
from agents.restarts.by_name import RESTARTS
from agents.restarts.on_alarm import InOrder
from bandit_envs import Setting
from bandit_envs.problems import build
from gpbandits import evaluate

COMPOSITE = "GPBandit-Composite-v0"
SMALL = {"num_arms": 30, "horizon": 90}
OFF = {"delay": None, "context": None, "changes": None, "constraints": None}


def setting(**keywords):
    env = gym.make(COMPOSITE, **{**SMALL, **keywords})
    env.reset(seed=0)
    return env.get_wrapper_attr("setting")


def made(**keywords):
    return agents.make("gp-agent", setting(), **keywords)


def played(agents_by_label, trials=3, **keywords):
    return evaluate(COMPOSITE, agents_by_label, trials=trials, env_kwargs={**SMALL, **keywords}).actions


def test_with_a_rule_alone_it_takes_the_parts_that_the_setting_calls_for():
    everything = agents.make("gp-agent", setting(), rule="ucb")
    nothing = agents.make("gp-agent", setting(**OFF), rule="ucb")
    exact = agents.make("gp-agent", setting(), rule="ei")  # whose scores cannot be weighed against costs
    noisy = agents.make("gp-agent", setting(constraint_noise_std=0.1), rule="ei")
    for agent in (everything, nothing, exact, noisy):
        agent.reset(0)
    assert isinstance(everything.belief, Hallucinated)
    assert isinstance(everything.objective, Rectified)
    assert isinstance(everything.restart, InOrder)
    assert isinstance(exact.objective, Penalised)
    assert isinstance(exact.objective.multipliers, Multipliers)
    assert isinstance(exact.objective.multipliers.penalty, Multiplicative)
    assert isinstance(noisy.objective.multipliers.penalty, LinearDual)
    assert type(nothing.objective) is Reward
    assert type(nothing.restart) is Never


@pytest.mark.long
def test_named_parts_are_the_named_algorithms():
    plain = played(
        {
            "parts": ("gp-agent", {"rule": "ucb"}),
            "named": "igp-ucb",
            "parts ts": ("gp-agent", {"rule": "thompson"}),
            "named ts": "gp-ts",
            "parts ei": ("gp-agent", {"rule": "ei"}),
            "named ei": "gp-ei",
            "parts variance": ("gp-agent", {"rule": "variance"}),
            "named variance": "pure-exploration",
        },
        **OFF,
    )
    for label in ("", " ts", " ei", " variance"):
        np.testing.assert_array_equal(plain["parts" + label], plain["named" + label])


@pytest.mark.long
def test_constraints_and_changes_of_named_parts_are_those_of_the_named_algorithms():
    costs = played(
        {
            "default": ("gp-agent", {"rule": "ucb"}),
            "config": ("gp-agent", {"constraint": "config"}),
            "parts": ("gp-agent", {"constraint": "multiplicative", "constraint_options": {"epoch": 10}}),
            "named": ("gp-ucb-noiseless-constraints", {"epoch": 10}),
            "dual": ("gp-agent", {"constraint": "dual", "constraint_options": {"step": 1.0}}),
            "named dual": ("gp-ucb-noisy-constraints", {"step": 1.0}),
            "paper": ("gp-agent", {"constraint": "dual", "constraint_options": {"reading": "paper"}}),
            "named paper": ("gp-ucb-noisy-constraints", {"reading": "paper"}),
        },
        **{**OFF, "constraints": {"law": "gp", "quantile": 0.3}},
    )
    np.testing.assert_array_equal(costs["default"], costs["config"])
    np.testing.assert_array_equal(costs["parts"], costs["named"])
    np.testing.assert_array_equal(costs["dual"], costs["named dual"])
    np.testing.assert_array_equal(costs["paper"], costs["named paper"])
    detector = {"ridge": 5.0, "theta": 2.6}
    changes = played(
        {
            "parts": ("gp-agent", {"width": "change-point", "restart": "cpd", "restart_options": detector}),
            "named": "gp-ucb-cpd",
        },
        **{**OFF, "changes": {"law": "evenly", "num_segments": 2}},
    )
    np.testing.assert_array_equal(changes["parts"], changes["named"])


SHARED = ("cpd", "evidence")  # whose rate of false alarms is that of a run, of all responses together
OF_RESTARTS = {  # detectors that have alarms often
    "periodic": {"every": 15},
    "cpd": {"theta": 3.0},
    "evidence": {"false_alarm_rate": 0.9},
    "evidence-archive": {"false_alarm_rate": 0.9},
    "et": {"false_alarm_rate": 0.9},
    "glr": {"false_alarm_rate": 0.9},
    "bocpd": {"segment": 10.0},
}


def all_parts():
    """Every belief with every constraint and restart, so that any two of them meet."""
    parts = product(enumerate(BELIEFS), enumerate(CONSTRAINTS), enumerate(RESTARTS))
    for (i, belief), (j, constraint), (k, restart) in parts:
        if (i + j - k) % max(len(CONSTRAINTS), len(RESTARTS)) == 0:
            yield belief, constraint, restart


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("belief", "constraint", "restart"), [*all_parts()])
def test_all_parts_go_together_and_a_batch_equals_singles(belief, constraint, restart):
    options = {"belief": belief, "constraint": constraint, "restart": restart}
    options |= {"restart_options": OF_RESTARTS[restart]} if restart in OF_RESTARTS else {}
    short = {"num_arms": 20, "horizon": 45, "safe_seed": constraint == "safe"}
    batch_as_singles(COMPOSITE, ("gp-agent", options), **short)


def test_an_agent_without_contexts_sees_the_arms_alone():
    full = setting()
    blind = without_contexts(full)
    assert blind.contexts is None
    assert blind.decisions.num_arms == full.decisions.num_arms
    first = np.hstack([np.tile(full.contexts[0], (30, 1)), full.arms])
    np.testing.assert_allclose(blind.kernel(full.arms), full.kernel(first))
    assert isinstance(blind.kernel, InContext)
    assert without_contexts(blind) is blind
    agent = made(context=False)
    agent.reset(0)
    assert agent.act(np.array([0.3])) in range(30)


@pytest.mark.long
@pytest.mark.parametrize("restart", SHARED)
def test_the_rate_of_false_alarms_is_shared_by_the_reward_and_all_costs(restart):
    keywords = {**OFF, "changes": {"law": "at", "rounds": []}, "num_arms": 50, "horizon": 400}
    keywords["constraints"] = {"law": "gp"}
    agent, costs = ("gp-agent", {"restart": restart}), {"num_constraints": 3}
    result = evaluate(COMPOSITE, {"it": agent}, trials=60, seed=9100, env_kwargs={**keywords, **costs})
    runs = sum(len(rounds) > 0 for rounds in result.alarms["it"])
    assert runs <= 10  # 6 are expected at most; with the whole rate for each of the four there are 13


@pytest.mark.parametrize("rule", UNITLESS)
@pytest.mark.parametrize("constraint", ["dual", "multiplicative"])
def test_under_constraints_nothing_is_compared_across_units(rule, constraint):
    if rule in IMPROVING:
        with pytest.raises(ValueError, match='incumbent must not be "best_value" under constraints'):
            made(rule=rule, constraint=constraint, incumbent="best_value")
        made(rule=rule, constraint="none", incumbent="best_value")
    with pytest.raises(ValueError, match="rule must score in the units of the reward"):
        made(rule=rule, constraint=constraint, constraint_options={"models": "separate"})
    made(rule=rule, constraint=constraint)
    made(rule="ucb", constraint=constraint, constraint_options={"models": "separate"})


@pytest.mark.sampled(1)
@pytest.mark.parametrize("every", [20, 1000])
def test_the_play_after_a_restart_knows_nothing_though_an_epoch_ends_with_it(every):
    env = gym.make(COMPOSITE, num_arms=20, horizon=60, delay=None, context=None)
    openings = set()
    for seed in range(12):
        observation, _ = env.reset(seed=0)
        epochs = {"constraint": "dual", "constraint_options": {"reuse": False, "epoch": 20}}
        starts = {"restart": "periodic", "restart_options": {"every": every}}
        agent = started(agents.make("gp-agent", env, **epochs, **starts), seed)
        for arm in range(20):  # whatever it would play: all have seen the same
            agent.act(observation)
            following, reward, _, _, info = env.step(arm)
            agent.update(observation, arm, reward, info)
            observation = following
        openings.add(agent.act(observation))
    assert (len(openings) > 4) == (every == 20)  # without a restart, all begin the epoch at the best mean


def test_an_agent_without_contexts_does_not_look_at_those_of_a_box_either():
    box = {"low": np.zeros(1), "high": np.ones(1), "context_low": np.array([0.2]), "context_high": np.ones(1)}
    full = Setting(**box, horizon=20, kernel=RBF(0.3))
    blind = without_contexts(full)
    assert not blind.has_contexts
    arms = np.linspace(0, 1, 5)[:, None]
    np.testing.assert_allclose(blind.kernel(arms), full.kernel(np.hstack([np.full((5, 1), 0.2), arms])))
    agent = agents.make("gp-agent", full, context=False)
    actions = []
    for observation in (np.array([0.3]), np.array([0.9])):
        agent.reset(0)
        actions.append(agent.act(observation))
    np.testing.assert_array_equal(*actions)
    assert agent.recommend().action.shape == (1,)  # asks for no observation


@pytest.mark.parametrize("rule", UNITLESS)
@pytest.mark.parametrize("constraint", APART)
def test_a_rule_without_units_is_refused_where_scores_are_weighed_against_costs(rule, constraint):
    with pytest.raises(ValueError, match="rule must score in the units of the reward"):
        made(rule=rule, constraint=constraint)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_plays_what_its_trials_play_alone(rule):
    batch_as_singles(COMPOSITE, ("gp-agent", {"rule": rule}), num_arms=20, horizon=30)


def test_a_constraint_needs_a_setting_with_constraints():
    with pytest.raises(ValueError, match="constraint must be"):
        agents.make("gp-agent", build("composite", {**SMALL, "constraints": None}), constraint="dual")


@pytest.mark.long
@pytest.mark.parametrize(
    "spec",
    [("gp-agent", {"restart": "cpd"}), ("gp-ucb-cpd", {"false_alarm_rate": 0.5})],
    ids=["gp-agent", "gp-ucb-cpd"],
)
def test_detectors_of_a_batch_are_set_by_the_noise_of_their_own_trials(spec):
    keywords = {"noise": {"law": "gaussian", "share": 0.01}, "num_segments": 2, "horizon": 120}
    keywords |= {"context": None, "constraints": None}
    batch_as_singles(COMPOSITE, spec, 3, **{**SMALL, **keywords})


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"restart": "cpd", "restart_options": {"foo": 1}}, r"restart_options .* of 'cpd' \(xi_.*foo"),
        ({"restart": "periodic"}, r"restart_options must be options of 'periodic' \(every\), got None"),
        ({"restart": "never", "restart_options": {"every": 2}}, r"restart_options .*\(it takes none\)"),
        ({"restart_options": 3}, "restart_options must be a dict of names or None, got 3"),
        ({"rule": "ei", "rule_options": {"psi": 1}}, r"rule_options .*\(xi\)"),
        ({"rule": "ei", "width": 3.0}, "width must be left out with the rule 'ei', which has none, got 3.0"),
        ({"restart": "periodic", "restart_options": {"every": 2.5}}, "every must be an integer, got 2.5"),
    ],
)
def test_wrong_options_of_a_part_are_named_with_those_it_takes(options, named):
    with pytest.raises(ValueError, match=named):
        agents.make("gp-agent", setting(delay=None, context=None), **options)
