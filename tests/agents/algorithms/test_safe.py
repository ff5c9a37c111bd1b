"""Agents that keep every cost in every round: what they may play, and that they keep it."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from players import started
from rectified_cases import KERNEL, LINE, NOISE, cost, play, problem
from sklearn.gaussian_process.kernels import RBF

import agents
from agents.acquisition.rules import UCB
from agents.agent.assembly import assemble
from agents.algorithms import safe
from agents.beliefs.delivered import Delivered
from agents.beliefs.imputed import Hallucinated
from agents.objectives.safe import safe_parts
from agents.objectives.safe_masks import ByBands, ByNeighbours
from agents.registry import resolve_agent
from agents.widths.base import FixedWidth
from bandit_envs import BanditEnv, Decisions, Problem
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws import Gaussian, GPSample, UniformNoise, changes, delays
from bandit_envs.laws.availability import BernoulliAvailability
from bandit_envs.laws.derived import FeasibleShare
from gpbandits import evaluate
from gpbandits.evaluation.truth import reachable

NAMES = [name for name in agents.names() if resolve_agent(name).make.__module__ == safe.__name__]
TWO = (cost, lambda x: 0.2 - x[:, 0])
SAFE = {"safe_seed": "safest"}  # one seed in all trials of costs that are given
PROBLEMS = {
    "one cost": problem(**SAFE),
    "two costs": problem(TWO, **SAFE),
    "delay": problem(TWO, delay=delays.PoissonDelay(5), **SAFE),
}


def bench(horizon=200, **laws):
    """Samples of a Gaussian process on 100 arms, of which 40 % are feasible."""
    return Problem(
        Decisions(np.linspace(0.0, 1.0, 100)[:, None]),
        GPSample(),
        KERNEL,
        noise=Gaussian(NOISE),
        constraints=(GPSample(),),
        feasibility=FeasibleShare(0.4),
        constraint_noise=Gaussian(NOISE),
        horizon=horizon,
        safe_seed=True,
        **laws,
    )


def finds_safe_arms_by_bands(name):
    agent = started(agents.make(name, PROBLEMS["one cost"].draw(0).setting))
    return type(agent.objective.mask) is ByBands


def meant_for(name, horizon):
    """The bench, with the noise on costs that the agent's safety is proved for."""
    noise = Gaussian(NOISE) if name in BANDED else UniformNoise(NOISE)
    return replace(bench(horizon), constraint_noise=noise)


BANDED = [name for name in NAMES if finds_safe_arms_by_bands(name)]


def unsafe_runs(problem, name, trials, **options):
    result = evaluate(problem, {"it": (name, options)}, trials=trials)
    return int((result.unsafe_plays["it"][:, -1] > 0).sum())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", PROBLEMS)
@pytest.mark.parametrize("name", BANDED)
def test_every_play_is_a_safe_seed_or_kept_by_all_bands(name, place):
    run = play(PROBLEMS[place], name, cost_width=2.0)
    (seed,) = np.unique(run.agent.setting.safe_seed)
    kept = (run.cost_mean + 2.0 * run.cost_std <= 0.0).all(axis=2)
    kept[..., seed] = True
    assert np.take_along_axis(kept, run.arm[..., None], 2).all()
    assert (run.arm != seed).any()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", NAMES)
def test_no_play_is_unsafe_at_the_width_of_the_theory(name):
    assert unsafe_runs(meant_for(name, 60), name, 8) == 0


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_no_play_is_unsafe_in_two_hundred_runs(name):
    assert unsafe_runs(meant_for(name, 200), name, 200) == 0


@pytest.mark.parametrize("name", NAMES)
def test_plays_that_are_pending_certify_nothing(name):
    late = 12
    run = play(problem(delay=delays.Constant(late), **SAFE), name, cost_width=1.0)
    seed = run.agent.setting.safe_seed[0]
    assert (run.arm[: late + 1] == seed).all()
    assert (run.arm[late + 1 :] != seed).any()


@pytest.mark.parametrize("options", [{"restart": "periodic", "restart_options": {"every": 20}}], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_after_an_alarm_only_the_seed_is_safe(name, options):
    run = play(PROBLEMS["one cost"], name, cost_width=1.0, **options)
    seed = run.agent.setting.safe_seed[0]
    assert (run.arm[::20] == seed).all()
    assert (run.arm != seed).any()


@pytest.mark.long
def test_an_alarm_by_evidence_keeps_no_plays_and_uniform_rounds_stay_safe():
    changing = bench(90, changes=changes.AtRounds((45,)))
    for restart in ("evidence", "oracle"):
        run = play(changing, "safe-ucb", trials=4, cost_width=2.0, restart=restart)
        assert not run.agent._learns_again
        kept = (run.cost_mean + 2.0 * run.cost_std <= 0.0).all(axis=2)
        kept[:, np.arange(4), run.agent.setting.safe_seed[:, 0]] = True
        assert np.take_along_axis(kept, run.arm[..., None], 2).all()
        assert run.agent.book.since is not None


def test_by_default_alarms_need_no_uniform_plays():
    setting = bench(30, changes=changes.AtRounds((15,))).draw(0).setting
    agent = started(agents.make("safe-ucb", setting))
    assert agent.alarms == []
    assert agent.restart.exploring is None


def test_reward_and_costs_have_a_noise_each():
    loud = bench().draw(0).setting
    for std in (0.0, 0.05, 0.5):
        agent = started(agents.make("safe-ucb", replace(loud, constraint_noise_std=std)))
        assert agent.model.noise_variance == pytest.approx(NOISE**2)
        for belief in agent.objective.costs:
            np.testing.assert_allclose(belief.std_posterior.noise, max(std**2, 1e-6))


def test_without_costs_every_arm_may_be_played():
    field = {"safe": ("safe-ucb", {"width": 2.0}), "plain": ("gp-ucb", {"width": 2.0})}
    actions = evaluate(problem(()), field, trials=2).actions
    np.testing.assert_array_equal(actions["safe"], actions["plain"])


@pytest.mark.parametrize("name", NAMES)
def test_a_safe_seed_is_needed_and_may_be_given(name):
    setting = replace(PROBLEMS["one cost"].draw(0).setting, safe_seed=None)
    with pytest.raises(ValueError, match="safe_seed must be known to play safely"):
        agents.make(name, setting)
    agent = started(agents.make(name, setting, safe_seed=[3, 4]))
    assert agent.act(np.zeros(1)) in (3, 4)
    with pytest.raises(ValueError, match="safe_seed must be arms"):
        agents.make(name, setting, safe_seed=[len(LINE)])


@pytest.mark.long
def test_losbo_is_safe_under_bounded_noise_whatever_the_model():
    bounded = replace(bench(), constraint_noise=UniformNoise(0.2))
    wrong = {"kernel": make_kernel("rbf", 1.0), "width": 0.1, "cost_width": 0.1}
    assert unsafe_runs(replace(bounded, horizon=80), "losbo", 10, **wrong) == 0
    assert unsafe_runs(replace(bounded, horizon=80), "safeopt", 10, **wrong) > 0


class Truth:
    """Bands that are the truth, in place of beliefs."""

    def __init__(self, costs):
        self.costs, self.context = costs, np.zeros(1, dtype=int)

    def upper_everywhere(self):
        return self.costs[:, None]


@pytest.mark.parametrize("costs", [(cost,), TWO], ids=["one cost", "two costs"])
def test_bands_that_are_the_truth_reach_all_that_can_be_reached(costs):
    g = np.array([each(LINE) for each in costs])
    setting = problem(costs, **SAFE).draw(0).setting
    seed = np.zeros((1, 1, len(LINE)), dtype=bool)
    seed[..., setting.safe_seed] = True
    mask, known = ByNeighbours(seed, LINE, setting.lipschitz), Truth(g)
    sizes = []
    for _ in range(len(LINE)):
        sizes.append(mask.safe(known).sum())
        mask.played(known)
    reached = reachable(g, seed[0, 0], LINE, setting.lipschitz)
    np.testing.assert_array_equal(mask.safe(known)[0], reached)
    assert sizes[0] < sizes[-1] == reached.sum() < len(LINE)
    mask.forget(np.zeros(1, dtype=int))
    assert mask.safe(known).sum() == sizes[0]


@pytest.mark.parametrize("name", BANDED)
def test_the_sets_of_the_papers_are_within_those_of_the_code_and_follow_from_one_another(name):
    run = play(PROBLEMS["two costs"], name, sets="neighbours", cost_width=2.0)
    upper = run.cost_mean + 2.0 * run.cost_std
    slopes, (seed,) = run.agent.setting.lipschitz, np.unique(run.agent.setting.safe_seed)
    distance = np.abs(LINE - LINE.T)
    for i in range(upper.shape[1]):
        members = np.arange(len(LINE)) == seed
        for t in range(len(upper)):
            reach = upper[t, i][:, members, None] + slopes[:, None, None] * distance[members]
            members = (reach.min(axis=1) <= 0).all(axis=0)
            members[seed] = True
            assert members[run.arm[t, i]]
    assert (run.arm != seed).any()


def test_where_no_safe_arm_is_there_the_agent_says_so_and_plays_nothing():
    env = BanditEnv(bench(availability=BernoulliAvailability(0.5)))
    seen, info = env.reset(seed=0)
    agent = started(agents.make("safeopt", env))
    mask = np.ones_like(info["action_mask"])
    mask[env.setting.safe_seed] = 0
    agent.start({"action_mask": mask})
    with pytest.raises(RuntimeError, match="one of the safe seed must be available in every round"):
        agent.act(seen)


def test_a_safe_seed_is_never_missing():
    env = BanditEnv(bench(20, availability=BernoulliAvailability(0.05)))
    env.reset(seed=0)
    (seed,) = env.setting.safe_seed
    masks = [env.step(seed)[-1]["action_mask"] for _ in range(20)]
    assert np.mean(masks) < 0.1


@pytest.mark.parametrize("name", NAMES)
def test_no_play_is_unsafe_where_arms_come_and_go(name):
    volatile = replace(meant_for(name, 40), availability=BernoulliAvailability(0.2))
    assert unsafe_runs(volatile, name, 4) == 0


def test_safety_is_a_part_that_composes():
    late = bench(40, delay=delays.PoissonDelay(3), changes=changes.AtRounds((20,)))
    parts = {"constraint": "safe", "width": 2.0, "belief": "delivered"}
    played = evaluate(late, {"parts": ("gp-agent", parts), "named": "safe-ucb"}, trials=2).actions
    np.testing.assert_array_equal(played["parts"], played["named"])
    for rule in ("thompson", "ei"):  # a unit is not needed: costs are not weighed
        options = parts | {"rule": rule, "belief": "hallucinated", "restart": "oracle"}
        options |= {} if rule == "thompson" else {"width": "improved"}
        assert unsafe_runs(late, "gp-agent", 4, **options) == 0


@pytest.mark.long
@pytest.mark.parametrize("costs", [Hallucinated, Delivered], ids=lambda belief: belief.__name__)
def test_deviations_of_pending_plays_would_certify_what_is_unsafe(costs):
    late = bench(60, delay=delays.Constant(20))

    def agent(setting):
        parts = safe_parts(setting, cost_width=5.4)
        assumed = replace(parts.objective.keywords["assumed"], belief=costs)
        objective = partial(parts.objective, assumed=assumed)
        return assemble(parts.model, lambda model: UCB(FixedWidth(5.4)), objective=objective)

    unsafe = (evaluate(late, {"it": agent}, trials=12).unsafe_plays["it"][:, -1] > 0).sum()
    assert unsafe >= 3 if costs is Hallucinated else unsafe == 0
    with pytest.raises(ValueError, match="cost_belief must be left out"):
        agents.make("safe-ucb", late.draw(0).setting, cost_belief=costs)


def test_slopes_that_nobody_tells_are_asked_for():
    withheld = replace(PROBLEMS["one cost"], publish_model=False).draw(0).setting
    with pytest.raises(ValueError, match="lipschitz must be known"):
        agents.make("losbo", withheld, kernel=RBF(0.2), constraint_prior_std=[1.0])


def test_how_far_costs_may_vary_is_asked_for():
    withheld = replace(PROBLEMS["one cost"], publish_model=False).draw(0).setting
    for kernel in (None, "matern52"):
        with pytest.raises(ValueError, match="kernel must be known to keep costs in every round"):
            agents.make("safe-ucb", withheld, kernel=kernel)
