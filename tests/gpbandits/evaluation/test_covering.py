"""Unsafe plays, and the share of what can be reached safely that an agent certified or played."""

import numpy as np
import pytest
from players import play

import agents
from bandit_envs import BanditEnv
from bandit_envs.problems import build
from gpbandits import Result, evaluate
from gpbandits.evaluation.loop import trial_seeds
from gpbandits.evaluation.result import join_trials
from gpbandits.evaluation.truth import Covering, reachable

KEYWORDS = {"num_arms": 25, "horizon": 30, "safe_seed": True, "num_contexts": 1}
AGENTS = {"config": "config", "safe": ("safe-ucb", {"cost_width": 2.0}), "losbo": "losbo"}
TRIALS = 4


def setup_of(**keywords):
    return evaluate("GPBandit-Constrained-v0", AGENTS, trials=TRIALS, env_kwargs=KEYWORDS | keywords)


@pytest.fixture(scope="module")
def result():
    return setup_of()


def reached_by_hand(cost, points, seed):
    """Rbar_0 by the definition, one arm after another: costs (C, N)."""
    size = range(len(points))
    distance = np.array([[np.linalg.norm(points[i] - points[j]) for j in size] for i in size])
    slopes = [
        1.1 * max(abs(row[i] - row[j]) / distance[i, j] for i in size for j in size if i != j) for row in cost
    ]
    reached, grown = set(), set(seed.tolist())
    while grown != reached:
        reached = grown
        grown = reached | {
            j
            for j in size
            if all(
                any(row[i] + slope * distance[i, j] <= 0.0 for i in reached)
                for row, slope in zip(cost, slopes, strict=True)
            )
        }
    return reached


@pytest.mark.sampled(1)
@pytest.mark.parametrize("num_constraints", [1, 2])
@pytest.mark.parametrize("label", AGENTS)
def test_coverage_is_that_of_the_definition(label, num_constraints):
    keywords = KEYWORDS | {"num_constraints": num_constraints}
    result = setup_of(num_constraints=num_constraints)
    env, sizes = BanditEnv(build("constrained", keywords)), []
    spec = AGENTS[label]
    name, options = spec if isinstance(spec, tuple) else (spec, {})
    for i in range(TRIALS):
        of_env, of_agent = trial_seeds(0, i)
        observation, _ = env.reset(seed=of_env)
        agent = agents.make(name, env.setting, **options)
        agent.reset(of_agent)
        known = set(map(int, play(env, agent, observation, 30)[0]))
        if agent.certified is not None:
            known |= set(np.flatnonzero(agent.certified).tolist())
        trial = env.simulator.trials[0]
        reached = reached_by_hand(trial.means[0][1:], env.problem.decisions.points, trial.setting.safe_seed)
        assert result.coverage[label][i] == len(known & reached) / len(reached)
        sizes.append(len(reached))
    assert max(sizes) > 2


@pytest.mark.long
def test_it_is_the_same_alone_thinned_stored_and_isolated(result, tmp_path):
    third = {"trials": 1, "first_trial": 2, "env_kwargs": KEYWORDS}
    alone = evaluate("GPBandit-Constrained-v0", AGENTS, **third)
    apart = evaluate("GPBandit-Constrained-v0", AGENTS, **third, isolate=True)
    here = evaluate("GPBandit-Constrained-v0", AGENTS, **third, entropy=apart.entropy)
    thinned = evaluate(
        "GPBandit-Constrained-v0", AGENTS, trials=TRIALS, env_kwargs=KEYWORDS, checkpoints=[10, 30]
    )
    result.save(tmp_path / "kept.parquet")
    stored = Result.load(tmp_path / "kept.parquet")
    joined = join_trials([result.records["safe"], alone.records["safe"]])
    for label, covered in result.coverage.items():
        np.testing.assert_array_equal(alone.coverage[label], covered[2:3])
        np.testing.assert_array_equal(apart.coverage[label], here.coverage[label])
        np.testing.assert_array_equal(thinned.coverage[label], covered)
        np.testing.assert_array_equal(stored.coverage[label], covered)
    np.testing.assert_array_equal(joined.covered, np.append(result.coverage["safe"], alone.coverage["safe"]))


@pytest.mark.parametrize(
    "without",
    [{"safe_seed": False}, {"num_contexts": 3}, {"num_segments": 2}],
    ids=lambda keys: next(iter(keys)),
)
def test_nothing_is_said_where_it_is_not_known(without, tmp_path):
    keywords = KEYWORDS | without
    result = evaluate("GPBandit-Constrained-v0", ["config"], trials=2, env_kwargs=keywords)
    assert not result.coverage
    assert "coverage" not in result.safety_table().header
    result.save(tmp_path / "kept.parquet")
    assert not Result.load(tmp_path / "kept.parquet").coverage


def test_what_an_agent_certifies_must_be_arms():
    covering = Covering(np.ones((2, 3), dtype=bool))
    with pytest.raises(ValueError, match="certified of an agent"):
        covering.certify(np.array([True, False]))
    with pytest.raises(ValueError, match="certified of an agent"):
        covering.certify(np.ones((2, 3)))
    covering.certify(None)
    np.testing.assert_array_equal(covering.share, [0.0, 0.0])


def test_blocks_of_points_reach_what_all_of_them_reach(monkeypatch):
    rng = np.random.default_rng(0)
    points, costs = rng.random((60, 2)), rng.random((2, 60)) - 0.9
    seed = np.zeros(60, dtype=bool)
    seed[costs.max(axis=0).argmin()] = True
    whole = reachable(costs, seed, points, [4.0, 8.0])
    monkeypatch.setattr("gpbandits.evaluation.truth.BLOCK_BYTES", 1)
    np.testing.assert_array_equal(reachable(costs, seed, points, [4.0, 8.0]), whole)
    assert 1 < whole.sum() < 60


def test_unsafe_plays_are_those_that_violate_a_cost(result):
    for label, record in result.records.items():
        brute = np.cumsum((record.cost > 0).any(axis=2), axis=1)
        np.testing.assert_array_equal(result.unsafe_plays[label], brute)
        for first, counts in zip(result.first_unsafe[label], brute, strict=True):
            assert first == (np.flatnonzero(counts)[0] if counts[-1] else -1)
    assert (result.unsafe_plays["config"][:, -1] > 0).any()
    assert (result.unsafe_plays["losbo"] == 0).all()


def test_a_result_without_costs_has_no_such_table():
    plain = evaluate("GPBandit-GP-v0", ["random"], trials=1, env_kwargs={"num_arms": 5, "horizon": 3})
    with pytest.raises(ValueError, match="needs costs"):
        plain.safety_table()
