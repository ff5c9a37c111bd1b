"""Starting over: what is known afterwards is what a fresh agent would know."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
import rectified_cases
from restart_cases import EVERY, FIRST, ROUNDS, KeepingSome, shown_to, without_feedback_before
from scipy import stats

import agents
from agents.acquisition.by_name import Always
from agents.acquisition.improvement import BestValue
from agents.acquisition.rules import UCB, ExpectedImprovement
from agents.agent.assembly import assemble
from agents.algorithms import separate_models
from agents.beliefs.censored import Censored
from agents.beliefs.delivered import Delivered, sliding_window, time_varying, wandering
from agents.beliefs.imputed import FILL_INS, Hallucinated, Imputed
from agents.model.model import Model
from agents.posteriors import FORMS
from agents.registry import resolve_agent
from agents.restarts.base import Oracle, Periodic, SubExponential, growing_lengths, quantile_wait
from agents.restarts.on_alarm import ForcedExploration, uniform_rounds
from agents.widths.base import FixedWidth
from bandit_envs import BanditEnv, BanditVectorEnv, Decisions, Problem, Setting
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import GPSample, changes, delays
from bandit_envs.laws.delays import LAWS

BELIEFS = {
    "delivered": Delivered,
    "hallucinated": Hallucinated,
    "censored": partial(Censored, window=6),
    "imputed": partial(Imputed, window=6, fill=FILL_INS["mean"]),
}
RULES = {"ucb": UCB(FixedWidth(2.0)), "ei": ExpectedImprovement()}
KEEPING_BELIEFS = {
    **BELIEFS,
    "sliding": partial(sliding_window, window=8),
    "drifting": partial(time_varying, eps=0.05),
    "wandering": partial(wandering, rate=0.05),
}


def problem(**laws):
    arms, contexts = np.linspace(0, 1, 30)[:, None], np.linspace(0, 1, 3)[:, None]
    laws = {"changes": changes.AtRounds((EVERY,)), "delay": delays.PoissonDelay(4.0), **laws}
    return Problem(
        Decisions(arms, contexts), GPSample(), make_kernel("matern52", [0.5, 0.2]), horizon=60, **laws
    )


def tell_again(fresh, shown, first):
    """Show another agent the rounds from the first one on alone."""
    fresh.reset(3)
    for observation, action, info in shown[first:]:
        fresh.act(observation)
        fresh.update(observation, action, 0.0, without_feedback_before(first, info))


def assert_equals_a_fresh_agent(agent, fresh, shown, first):
    """It knows what another one knows that saw only the rounds from the first one on."""
    tell_again(fresh, shown, first)
    context = np.array([1])
    assert_believes_alike(agent.belief, fresh.belief, context)
    mean, points = agent.belief.mean(context), agent.arms(context)
    best, other = (each.incumbent(each.belief, points, mean) for each in (agent, fresh))
    np.testing.assert_allclose(best, other, atol=1e-9)
    np.testing.assert_array_equal(agent.t, fresh.t)


def assert_believes_alike(ours, theirs, context):
    close = partial(np.testing.assert_allclose, atol=1e-9)  # of prior deviations
    close(ours.mean(context), theirs.mean(context))
    close(ours.std(context), theirs.std(context))
    close(ours.gain, theirs.gain)
    close(ours.bias, theirs.bias)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("belief", BELIEFS)
def test_after_a_restart_everything_equals_a_fresh_agent_that_saw_only_what_came_since(belief, rule, form):
    env = BanditEnv(problem())
    model = Model.of(env.setting, form=form)
    make = partial(assemble, model, Always(RULES[rule]), belief=BELIEFS[belief], incumbent=BestValue)
    agent = make(restart=partial(Periodic, every=EVERY))
    shown = shown_to(agent, env)
    assert_equals_a_fresh_agent(agent, make(), shown, EVERY)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("belief", BELIEFS)
def test_plays_that_are_kept_are_all_that_is_known(belief, form):
    env = BanditEnv(problem())
    model = Model.of(env.setting, form=form)
    make = partial(assemble, model, Always(RULES["ucb"]), belief=KEEPING_BELIEFS[belief], incumbent=BestValue)
    agent = make(restart=partial(KeepingSome, every=EVERY))
    shown = shown_to(agent, env)
    assert_equals_a_fresh_agent(agent, make(), shown, FIRST)


@pytest.mark.parametrize(("restart", "first"), [(KeepingSome, FIRST), (Periodic, EVERY)])
def test_fits_look_at_the_plays_that_are_kept(restart, first):
    env = BanditEnv(problem(delay=delays.Immediate()))
    agent = assemble(
        Model.of(env.setting, refit_every=10), Always(RULES["ucb"]), restart=partial(restart, every=EVERY)
    )
    shown_to(agent, env)
    point, value, _ = agent.assumptions.sample(agent)
    assert len(point) == len(value) == ROUNDS - first


def test_the_oracle_starts_over_after_the_first_round_of_a_new_segment():
    env = BanditVectorEnv(problem(), 2)
    agent = assemble(Model.of(env.setting), Always(RULES["ucb"]), 2, restart=Oracle)
    shown_to(agent, env, EVERY + 1, [1, 2])
    np.testing.assert_array_equal(agent.t, [1, 1])
    np.testing.assert_array_equal(agent.book.since, [EVERY + 1, EVERY + 1])
    assert agent.privileged
    assert agent.alarms is None


def test_the_oracle_says_that_it_needs_the_truth():
    env = BanditEnv(problem(), oracle=False)
    agent = assemble(Model.of(env.setting), Always(RULES["ucb"]), restart=Oracle)
    with pytest.raises(ValueError, match="oracle=True"):
        shown_to(agent, env, 1)


# Costs of plays that are kept

NAMES = [name for name in agents.names() if resolve_agent(name).make.__module__ == separate_models.__name__]
LATE, LIFT = rectified_cases.problem(delay=delays.PoissonDelay(4)), 0.9


PENDING = {
    "delivered": {},
    "hallucinated": {"cost_belief": "hallucinated"},
    "censored": {"belief": "censored", "belief_options": {"window": 6}, "cost_belief": "censored"},
}


def restarted(name, rounds=ROUNDS, **options):
    """An agent that starts over, and its actions and what it was told; costs violate more than they do."""
    env = BanditEnv(LATE)
    agent = agents.make(name, env.setting, restart=partial(KeepingSome, every=EVERY), **options)
    return agent, shown_to(agent, env, rounds, feedback_cost=LIFT)


def come(told):
    """Costs that came of kept plays, (n,)."""
    each = [without_feedback_before(FIRST, info) for *_, info in told]
    return np.concatenate([info["feedback_cost"][info["feedback_mask"], 0] for info in each])


@pytest.mark.parametrize("options", PENDING.values(), ids=PENDING)
@pytest.mark.parametrize("name", NAMES)
def test_the_models_are_those_of_an_agent_that_saw_the_kept_plays_alone(name, options):
    agent, told = restarted(name, **options)
    fresh = agents.make(name, BanditEnv(LATE).setting, **options)
    tell_again(fresh, told, FIRST)
    both = ([each.belief, *each.objective.costs] for each in (agent, fresh))
    for ours, theirs in zip(*both, strict=True):
        assert_believes_alike(ours, theirs, np.zeros(1, dtype=int))
    np.testing.assert_array_equal(agent.t, fresh.t)


@pytest.mark.parametrize("rounds", [EVERY + 1, ROUNDS])
def test_the_multiplier_still_pays_for_all_costs_that_came_of_kept_plays(rounds):
    agent, told = restarted("pdcbo", rounds)
    paid = come(told).sum()
    assert paid > 0
    assert agent.objective.phi[0, 0] >= paid - 1e-9


@pytest.mark.parametrize("rounds", [EVERY + 1, ROUNDS])
def test_the_charge_still_counts_all_violations_of_kept_plays_and_rounds_since_the_first(rounds):
    agent, told = restarted("rpol", rounds)
    charge = agent.objective.charge[0, 0]
    assert charge >= max(1.0 + np.maximum(come(told), 0.0).sum(), np.sqrt(rounds - FIRST)) - 1e-9


# Rounds that are planned: forced exploration, and batches that wait


def letters(schedule, rounds):
    return ["".join(row) for row in np.where([schedule.advance() for _ in range(rounds)], "U", "G").T]


def test_the_first_rounds_are_the_papers():
    assert letters(ForcedExploration(2), 10) == ["UUUUGGUGGU"] * 2


@pytest.mark.parametrize("xi_squared", [0, 1, 3, 0.25, 7])
def test_every_round_is_uniform_exactly_where_the_inequality_holds(xi_squared):
    schedule, uniform = ForcedExploration(1, xi_squared), 0
    for history in range(5000):
        assert schedule.due[0] == (uniform**2 <= xi_squared * history)
        uniform += int(schedule.advance()[0])
    assert uniform == uniform_rounds(5000, xi_squared)
    assert abs(uniform - math.sqrt(xi_squared * 5000)) <= 1.0


def test_a_restarted_trial_begins_again_and_the_others_go_on():
    schedule = ForcedExploration(3)
    letters(schedule, 5)
    schedule.restart(np.array([0, 2]))
    assert letters(schedule, 5) == ["UUUUG", "GUGGU", "UUUUG"]


MEANS = [0.0, 0.5, 10.0, 56.0, 100.0, 1000.0]
SHARE = 0.01


def setting(law: str) -> Setting:
    return Setting(arms=np.linspace(0, 1, 5)[:, None], horizon=5000, delay=LAWS[law]())


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("t", [1, 40, 1000, 10**6])
def test_poisson_delays_seldom_outlast_the_tail_bound(mean, t):
    extra = SubExponential.of_poisson(mean, SHARE)(t)
    assert stats.poisson(mean).sf(extra) <= 2.0 * SHARE / (3.0 * t)


def test_delays_of_exponential_tails_seldom_outlast_the_tail_bound():
    """An exponential delay of mean b has xi = 2 b sqrt(log(4 / e)) up to s = 1 / (2 b)."""
    b, t = 10.0, 1000
    extra = SubExponential(b, 2.0 * b * math.sqrt(math.log(4.0 / math.e)), 2.0 * b, SHARE)(t)
    assert stats.expon(scale=b).sf(extra) <= 2.0 * SHARE / (3.0 * t)
    assert extra == math.ceil(b + 4.0 * b * math.log(1.5 * t / SHARE))  # its second term decides


@pytest.mark.parametrize("law", LAWS)
def test_a_published_law_says_how_long_is_long_enough(law):
    published, t = setting(law), 100
    extra, share = quantile_wait(published, SHARE, t), 2.0 * SHARE / (3.0 * t)
    assert published.delay is not None
    drawn = published.delay.draw(200_000, np.random.default_rng(0))
    waits = published.delay.wait(drawn, np.ones(200_000), np.ones(200_000))
    rounds = published.delay.in_rounds(waits)
    late = (rounds > extra).mean()
    assert late <= share + 4.0 * math.sqrt(share / 200_000) or extra == published.horizon - 1


def test_every_batch_is_longer_by_what_its_end_without_it_says():
    ends = []

    def extra(t: int) -> int:
        ends.append(t)
        return 7

    lengths = growing_lengths(1000, extra)
    assert lengths == [32 + 7, 179 + 7, 424 + 7, 1000 - 656]
    assert ends == [32, 39 + 179, 39 + 186 + 424, 656 + 652]
    assert growing_lengths(1000, lambda t: 0) == growing_lengths(1000)


@pytest.mark.parametrize("xi_squared", [-1, math.nan, math.inf, "3", True])
def test_a_wrong_xi_is_named(xi_squared):
    with pytest.raises(ValueError, match="xi_squared"):
        ForcedExploration(1, xi_squared)
