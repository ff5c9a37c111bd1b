"""Runs in parts, and runs that keep checkpoints alone, say what whole runs say."""

import threading

import numpy as np
import pytest
from players import UniformArms
from synthetic import assert_same

from agents.registry import resolve_agent
from bandit_envs.problems import build
from gpbandits.evaluation import evaluate, trace
from gpbandits.evaluation import record as records
from gpbandits.evaluation.parts import TrialsPart

KEYWORDS = {"num_arms": 20, "horizon": 50}
PROBLEM = build("composite", KEYWORDS)  # delays, constraints, contexts and changes
AGENTS = {
    "batch": "gp-ucb-sdf",  # with a window
    "alone": lambda setting: resolve_agent("gp-ucb")(setting),
    "detects": ("gp-ucb-cpd", {"theta": 0.5}),
}
ROUNDS = [2, 3, 7, 13, 14, 15, 40, 50]


@pytest.fixture(scope="module")
def whole():
    return evaluate(PROBLEM, AGENTS, trials=2)


@pytest.fixture
def short_blocks(monkeypatch):
    """Blocks of seven rounds, as a long run has many."""
    for module in (trace, records):
        monkeypatch.setattr(module, "BLOCK", 7)


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("rounds", [ROUNDS, [50], [7, 14, 50], lambda horizon: np.arange(5, horizon + 1, 5)])
def test_a_run_that_keeps_checkpoints_equals_the_whole_run_thinned_to_them_bit_for_bit(whole, rounds):
    kept = rounds(50) if callable(rounds) else rounds
    assert_same(evaluate(PROBLEM, AGENTS, trials=2, checkpoints=rounds), whole.at(kept))


def test_an_earlier_end_is_the_last_checkpoint(whole):
    keywords = KEYWORDS | {"max_episode_steps": 9}
    short = evaluate("GPBandit-Composite-v0", AGENTS, trials=2, checkpoints=[4, 9], env_kwargs=keywords)
    np.testing.assert_array_equal(short.rounds, [4, 9])
    for label in AGENTS:
        np.testing.assert_allclose(short.regret[label], whole.regret[label][:, [3, 8]], atol=1e-12)


@pytest.mark.parametrize(
    "wrong", [[], [0, 50], [3, 3, 50], [5, 49], [2.5, 50], [[1, 50]], "log", lambda t: [t + 1]]
)
def test_checkpoints_that_are_no_rounds_are_refused(wrong):
    with pytest.raises(ValueError, match=r"checkpoints must be rounds that increase .* to the horizon 50"):
        evaluate(PROBLEM, ["random"], trials=1, checkpoints=wrong)


OF_PARTS = {"num_arms": 20, "horizon": 12, "delay": {"law": "poisson", "mean": 2}}
PLAYERS = {"batch": "gp-ts", "held": ("gp-ucb", {"repeat": 2.0}), "random": "random"}


@pytest.mark.long
def test_two_processes_play_the_trials_that_one_plays():
    told, agents = [], PLAYERS | {"alone": UniformArms}
    problem = build("gp", OF_PARTS)
    asked = {"trials": 5, "seed": 3, "first_trial": 2, "checkpoints": [4, 12]}
    one = evaluate(problem, agents, **asked)
    two = evaluate(problem, agents, **asked, workers=2, progress=lambda *each: told.append(each))
    assert sorted(told) == sorted((name, count) for name in agents for count in (3, 2))
    assert_same(one, two)


def test_what_cannot_be_sent_to_another_process_is_refused():
    lock = threading.Lock()
    with pytest.raises(
        ValueError, match="workers must be 1 for an environment or an agent that cannot be pickled"
    ):
        evaluate("GPBandit-GP-v0", {"it": lambda setting: lock}, trials=2, env_kwargs=OF_PARTS, workers=2)


@pytest.mark.parametrize("pieces", [1, 2, 3, 7, 9])
def test_parts_are_the_whole_in_order_and_none_is_empty(pieces):
    parts = TrialsPart(5, [(i, -i) for i in range(7)], None).split(pieces)
    assert len(parts) == min(pieces, 7)
    assert [seed for part in parts for seed in part.seeds] == [(i, -i) for i in range(7)]
    assert [part.first_trial for part in parts] == [5 + part.seeds[0][0] for part in parts]
    assert max(len(part.seeds) for part in parts) - min(len(part.seeds) for part in parts) <= 1
