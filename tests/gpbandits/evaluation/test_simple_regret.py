"""Simple regret is that of the best feasible play in the round's context and segment that has arrived."""

import numpy as np
import pytest

from bandit_envs import make
from bandit_envs.data import find
from bandit_envs.environment.registration import IDS
from bandit_envs.problems.by_name import data_files
from gpbandits.evaluation import evaluate, thinning, trace, trial_seeds
from gpbandits.evaluation.simple_regret import BestPlay

HORIZON = 30
ROUNDS = [1, 4, 11, 12, 23, HORIZON]
EVERYTHING = {
    "num_arms": 12,
    "num_contexts": 3,
    "delay": {"law": "poisson", "mean": 3, "lost": 0.1},
    "constraints": {"law": "gp", "quantile": 0.3},
    "change_points": [7, 20],
    "availability": {"law": "bernoulli", "p": 0.7},
}
BUDGET = {"budget": {"law": "gp", "budget": 9}}
CASES = {env_id: (env_id, {}) for env_id, problem in IDS.items() if all(map(find, data_files(problem)))} | {
    "everything": ("GPBandit-Composite-v0", EVERYTHING),
    "everything, drifting": (
        "GPBandit-Composite-v0",
        EVERYTHING | {"drift": {"law": "ornstein-uhlenbeck", "epsilon": 0.05}},
    ),
    "everything, with a budget": ("GPBandit-Composite-v0", EVERYTHING | BUDGET),
}


def keywords_of(case):
    env_id, keywords = CASES[case]
    return env_id, {"horizon": HORIZON} | keywords


def by_definition(case, actions, seed, played):
    """Simple regret play by play and round by round, (T,)."""
    env_id, keywords = keywords_of(case)
    env = make(env_id, **keywords)
    env.reset(seed=seed)
    context, worst = env.unwrapped.simulator.trials[0].context, env.get_wrapper_attr("worst_regret")
    oracles = [env.step(action)[4]["oracle"] for action in actions[:played]]
    curve = []
    for now, oracle in enumerate(oracles):
        counted = [
            each["regret"]
            for t, each in enumerate(oracles[: now + 1])
            if 0 <= each["delay"] <= now - t
            and (each["cost_mean"] <= 0).all()
            and (context[t], each["segment"]) == (context[now], oracle["segment"])
        ]
        curve.append(min(counted, default=worst[now]))
    return np.array(curve + curve[-1:] * (len(actions) - played))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES)
def test_it_is_what_the_definition_says_in_whole_records_and_in_thinned_ones(case, monkeypatch):
    env_id, keywords = keywords_of(case)
    run = {"trials": 2, "env_kwargs": keywords}
    whole = evaluate(env_id, ["random"], **run)
    record = whole.records["random"]
    for i in range(2):
        seed, played = trial_seeds(0, i)[0], int(whole.played["random"][i])
        expected = by_definition(case, record.action[i], seed, played)
        np.testing.assert_array_equal(record.simple_regret[i], expected)
    assert (
        record.simple_regret >= -1e-9
    ).all()  # of the feasible none is better than the best, but for rounding
    for module in (trace, thinning):
        monkeypatch.setattr(module, "BLOCK", 7)
    thinned = evaluate(env_id, ["random"], checkpoints=ROUNDS, **run).records["random"]
    np.testing.assert_array_equal(thinned.simple_regret, record.simple_regret[:, np.array(ROUNDS) - 1])


def test_of_one_context_what_has_arrived_counts():
    regret, delay = np.array([[5.0, 1.0, 3.0, 0.5, 2.0]]), np.array([[2, 2, 0, -1, 0]])
    everywhere, feasible = np.zeros_like(delay), np.ones_like(delay, dtype=bool)
    best = BestPlay().follow(regret, delay, feasible, everywhere, everywhere)
    np.testing.assert_array_equal(best, [[np.inf, np.inf, 3.0, 1.0, 1.0]])


class Unsafe:
    """Plays an arm that violates the cost."""

    privileged = True

    def __init__(self, setting):
        self.arm = 0

    def reset(self, seed):
        pass

    def act(self, observation):
        return self.arm

    def update(self, observation, action, reward, info):
        if (info["oracle"]["cost_mean"] <= 0).all():
            self.arm += 1


@pytest.mark.long
def test_without_a_feasible_play_it_is_the_largest_regret_possible_and_tables_stay_finite(tmp_path):
    keywords = {"num_arms": 12, "horizon": HORIZON, "constraints": {"law": "gp", "quantile": 0.3}}
    result = evaluate("GPBandit-Constrained-v0", {"unsafe": Unsafe}, trials=4, env_kwargs=keywords)
    never = (result.costs["unsafe"] > 0).any(axis=2).all(axis=1)
    assert never.any()
    for i in np.flatnonzero(never):
        env = make("GPBandit-Constrained-v0", **keywords)
        env.reset(seed=trial_seeds(0, int(i))[0])
        np.testing.assert_array_equal(result.simple_regret["unsafe"][i], env.get_wrapper_attr("worst_regret"))
    cells = dict(zip(result.table().header, result.table().texts[0], strict=True))
    assert np.isfinite(float(cells["simple"]))
    result.plot(tmp_path / "figure.png", "log-log", "simple")
