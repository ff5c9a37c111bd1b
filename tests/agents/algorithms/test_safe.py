"""Agents that keep every cost in every round: what they may play, and that they keep it."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from rectified_cases import KERNEL, LINE, NOISE, cost, play, problem, wave
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
from bandit_envs.problem.feedback import delivery
from gpbandits import evaluate
from gpbandits.evaluation.safety import reachable

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
    agent = agents.make(name, PROBLEMS["one cost"].draw(0).setting)
    agent.reset(0)
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


def test_safe_ucb_is_the_largest_score_among_them():
    run = play(PROBLEMS["two costs"], "safe-ucb", width=3.0, cost_width=2.0)
    kept = (run.cost_mean + 2.0 * run.cost_std <= 0.0).all(axis=2)
    kept[..., run.agent.setting.safe_seed] = True
    upper = run.mean + 3.0 * run.std
    best = np.where(kept, upper, -np.inf).max(axis=2)
    np.testing.assert_allclose(np.take_along_axis(upper, run.arm[..., None], 2)[..., 0], best, atol=1e-8)


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
    agent = agents.make("safe-ucb", setting)
    agent.reset(0)
    assert agent.alarms == []
    assert agent.restart.exploring is None


def test_reward_and_costs_have_a_noise_each():
    loud = bench().draw(0).setting
    for std in (0.0, 0.05, 0.5):
        agent = agents.make("safe-ucb", replace(loud, constraint_noise_std=std))
        agent.reset(0)
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
    agent = agents.make(name, setting, safe_seed=[3, 4])
    agent.reset(0)
    assert agent.act(np.zeros(1)) in (3, 4)
    with pytest.raises(ValueError, match="safe_seed must be arms"):
        agents.make(name, setting, safe_seed=[len(LINE)])


@pytest.mark.parametrize("option", [{"standardize": True}, {"initial": 3}, {"centre": 1.0}], ids=str)
def test_what_comes_of_uniform_plays_is_refused(option):
    (name,) = option
    with pytest.raises(ValueError, match=f"{name} must be left out where every play is to be safe"):
        agents.make("safe-ucb", problem().setting(), safe_seed=[3], **option)


def test_a_box_is_refused():
    box = replace(problem().setting(), arms=None, low=np.zeros(1), high=np.ones(1))
    with pytest.raises(ValueError, match="got a box"):
        agents.make("safe-ucb", box)


def posterior(features, values, weight, at):
    """Mean and deviation of a cost at some points by the textbook formula, from plays of noise `weight`."""
    if not len(features):
        return np.zeros(len(at)), np.ones(len(at))
    across, among = KERNEL(at, features), KERNEL(features) + weight * np.eye(len(features))
    mean = across @ np.linalg.solve(among, values)
    variance = 1.0 - np.einsum("ij,ji->i", across, np.linalg.solve(among, across.T))
    return mean, np.sqrt(np.maximum(variance, 0.0))


def plays_of(name, costs, horizon=25, **options):
    """An agent's plays, with the bands and the feedback before each."""
    trial = problem(costs, horizon=horizon, **SAFE).draw(1)
    agent = agents.make(name, trial.setting, **options)
    agent.reset(0)
    features, values, noise = np.zeros((0, 1)), np.zeros((0, 1 + len(costs))), NOISE**2
    rng = np.random.default_rng(0)
    for t in range(horizon):
        bands = [posterior(features, y, noise, LINE) for y in values.T]
        arm = agent.act(np.zeros(1))
        yield t, arm, bands, (features, values, trial.setting.safe_seed[0])
        x = LINE[[arm]]
        value = np.array([wave(x)[0], *(each(x)[0] for each in costs)])
        value += NOISE * rng.standard_normal(len(value))
        agent.update(np.zeros(1), arm, value[0], delivery(t, np.array([t]), value[:1], value[None, 1:], 0))
        features, values = np.vstack([features, x]), np.vstack([values, value])


def sets_of(bands, seen, width):
    """S, M and G by their definitions, each (A,)."""
    features, values, seed = seen
    upper, lower = (np.array([mean + sign * width * std for mean, std in bands]) for sign in (1, -1))
    safe = (upper[1:] <= 0).all(axis=0)
    safe[seed] = True
    best = safe & (upper[0] >= lower[0][safe].max())
    expanders = np.zeros_like(safe)
    for x in safe.nonzero()[0]:
        after = np.vstack([features, LINE[[x]]])
        new = [
            posterior(after, np.append(values[:, j], lower[j, x]), NOISE**2, LINE)
            for j in range(1, len(bands))
        ]
        kept = np.array([mean + width * std <= 0 for mean, std in new]).all(axis=0)
        expanders[x] = (kept & ~safe).any()
    return safe, best, expanders


@pytest.mark.parametrize("costs", [(cost,), TWO], ids=["one cost", "two costs"])
def test_safeopt_plays_the_widest_band_of_maximisers_and_expanders(costs):
    expanded = 0
    for _, arm, bands, seen in plays_of("safeopt", costs, width=2.0, cost_width=2.0):
        _, best, expanders = sets_of(bands, seen, 2.0)
        wide = 4.0 * np.max([std for _, std in bands], axis=0)
        among = best | expanders
        assert among[arm]
        assert wide[arm] >= wide[among].max() - 1e-6
        expanded += not best[arm]
    assert expanded


@pytest.mark.sampled(1)
@pytest.mark.parametrize("costs", [(cost,), TWO], ids=["one cost", "two costs"])
def test_stageopt_expands_first_and_then_plays_the_largest_score(costs):
    last = 14
    options = {"rounds": last, "patience": 100}
    expanded = 0
    for t, arm, bands, seen in plays_of("stageopt", costs, width=2.0, cost_width=2.0, **options):
        safe_arms, best, expanders = sets_of(bands, seen, 2.0)
        of_costs = 4.0 * np.max([std for _, std in bands[1:]], axis=0)
        upper = bands[0][0] + 2.0 * bands[0][1]
        if t >= last:
            assert upper[arm] >= upper[safe_arms].max() - 1e-6
        elif expanders.any():
            assert expanders[arm]
            assert of_costs[arm] >= of_costs[expanders].max() - 1e-6
            expanded += 1
        else:
            assert best[arm]
    assert expanded


def test_stageopt_goes_over_when_the_safe_set_has_settled_and_starts_over_with_a_trial():
    still = {"cost_width": 50.0, "width": 2.0}  # S stays the seed
    run = play(problem(horizon=30, **SAFE), "stageopt", patience=4, **still)
    np.testing.assert_array_equal(run.agent.objective._settled, True)
    every = {"restart": "periodic", "restart_options": {"every": 30}}
    again = play(problem(horizon=30, **SAFE), "stageopt", patience=4, **still, **every)
    np.testing.assert_array_equal(again.agent.objective._settled, False)
    late = play(problem(horizon=30, delay=delays.Constant(28), **SAFE), "stageopt", patience=4, **still)
    np.testing.assert_array_equal(late.agent.objective._settled, False)


def test_stageopt_that_has_gone_over_stays_there_though_the_safe_set_grows_again():
    run = play(problem(horizon=30, **SAFE), "stageopt", patience=4, cost_width=50.0, width=2.0)
    objective, here = run.agent.objective, np.zeros(len(run.agent.objective._settled), dtype=int)
    objective._ever[:] = False  # so that every arm of S is new
    assert objective.safety(here, here + 31).settled.all()


def test_losbo_plays_what_costs_that_came_certify_and_its_set_only_grows():
    place = problem(TWO, horizon=50, **SAFE)
    trial = place.draw(1)
    slopes, bound = trial.setting.lipschitz, 0.3
    agent = agents.make("losbo", trial.setting, cost_noise_bound=bound, width=2.0, cost_width=2.0)
    agent.reset(0)
    rng, here, before = np.random.default_rng(0), np.zeros(1, dtype=int), np.zeros(len(LINE), dtype=bool)
    kept = np.full((2, len(LINE)), np.inf)
    for t in range(50):
        expected = (kept <= 0).all(axis=0)
        expected[trial.setting.safe_seed] = True
        safe_arms = agent.objective.safety(here, np.ones(1)).safe[0]
        np.testing.assert_array_equal(safe_arms, expected)
        assert (safe_arms >= before).all()
        arm, before = agent.act(np.zeros(1)), safe_arms
        assert safe_arms[arm]
        costs = np.array([each(LINE[[arm]])[0] for each in TWO]) + rng.uniform(-bound, bound, 2)
        agent.update(np.zeros(1), arm, 0.0, delivery(t, np.array([t]), np.zeros(1), costs[None], 0))
        reach = slopes[:, None] * np.abs(LINE[:, 0] - LINE[arm, 0])
        kept = np.minimum(kept, costs[:, None] + bound + reach)
    assert before.sum() > 3


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


@pytest.mark.long
def test_the_information_of_ise_is_that_of_its_formula():
    asked = 0
    for t, arm, bands, seen in plays_of("ise", (cost,), horizon=14, cost_width=2.0):
        if t >= 7:
            break
        features, _, seed = seen
        safe_arms = bands[1][0] + 2.0 * bands[1][1] <= 0
        safe_arms[seed] = True
        gains = np.full(len(LINE), -np.inf)
        for x in safe_arms.nonzero()[0]:
            gains[x] = max(information_of(features, bands[1], x, z) for z in range(len(LINE)))
        assert gains[arm] >= gains.max() - 1e-6
        asked += safe_arms.sum() > 1
    assert asked


def information_of(features, band, x, z):
    """H(z) - EH(z | x) of a play of x, numbers one at a time."""
    mean, std = band
    both = LINE[[x, z]]
    prior = KERNEL(both)
    if len(features):
        across = KERNEL(both, features)
        prior = prior - across @ np.linalg.solve(
            KERNEL(features) + NOISE**2 * np.eye(len(features)), across.T
        )
    c1 = 1 / (np.pi * np.log(2))
    q = std[x] ** 2 / (std[x] ** 2 + NOISE**2) * prior[0, 1] ** 2 / (prior[0, 0] * prior[1, 1])
    r, left = mean[z] ** 2 / std[z] ** 2, 1 + (2 * c1 - 1) * q
    return np.log(2) * (np.exp(-c1 * r) - np.sqrt((1 - q) / left) * np.exp(-c1 * r / left))


def test_ise_plays_rewards_in_the_second_half():
    for t, arm, bands, seen in plays_of("ise", (cost,), horizon=20, width=2.0, cost_width=2.0):
        safe_arms, upper = sets_of(bands, seen, 2.0)[0], bands[0][0] + 2.0 * bands[0][1]
        if t >= 10:
            assert upper[arm] >= upper[safe_arms].max() - 1e-6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sets": "no"}, "sets must be"),
        ({"lipschitz": [1.0]}, "lipschitz must be left out"),
        ({"sets": "neighbours", "lipschitz": [1.0, 2.0]}, "lipschitz must be 1 finite"),
        ({"sets": "neighbours", "cost_noise_bound": 1.0}, "cost_noise_bound must be left out"),
        ({"sets": "plays", "cost_noise_bound": -1.0}, "cost_noise_bound must"),
        ({"patience": 0}, "patience must"),
    ],
    ids=str,
)
def test_what_a_safe_set_does_not_take_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        agents.make("safeopt", PROBLEMS["one cost"].draw(0).setting, **options)


def test_slopes_that_nobody_tells_are_asked_for():
    withheld = replace(PROBLEMS["one cost"], publish_model=False).draw(0).setting
    with pytest.raises(ValueError, match="lipschitz must be known"):
        agents.make("losbo", withheld, kernel=RBF(0.2), constraint_prior_std=[1.0])


def test_how_far_costs_may_vary_is_asked_for():
    withheld = replace(PROBLEMS["one cost"], publish_model=False).draw(0).setting
    for kernel in (None, "matern52"):
        with pytest.raises(ValueError, match="kernel must be known to keep costs in every round"):
            agents.make("safe-ucb", withheld, kernel=kernel)


def test_where_no_safe_arm_is_there_the_agent_says_so_and_plays_nothing():
    env = BanditEnv(bench(availability=BernoulliAvailability(0.5)))
    seen, info = env.reset(seed=0)
    agent = agents.make("safeopt", env)
    agent.reset(0)
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
