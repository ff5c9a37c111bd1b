"""Runs that keep checkpoints alone say what the whole runs say."""

import numpy as np
import pytest

from agents.registry import resolve_agent
from bandit_envs.problems import build
from gpbandits.evaluation import evaluate, trace
from gpbandits.evaluation import record as records

KEYWORDS = {"num_arms": 20, "horizon": 50}
PROBLEM = build("composite", KEYWORDS)  # delays, constraints, contexts and changes
AGENTS = {
    "batch": "gp-ucb-sdf",  # with a window
    "alone": lambda setting: resolve_agent("gp-ucb")(setting),
    "detects": ("gp-ucb-cpd", {"theta": 0.5}),
}
ROUNDS = [2, 3, 7, 13, 14, 15, 40, 50]
NOT_COMPARED = ("seconds",)


def assert_same(one, other):
    assert one.records.keys() == other.records.keys()
    np.testing.assert_array_equal(one.rounds, other.rounds)
    assert (one.windows, one.tracks, one.privileged) == (other.windows, other.tracks, other.privileged)
    for label, record in one.records.items():
        for name, value in record._asdict().items():
            if name not in NOT_COMPARED:
                np.testing.assert_equal(value, getattr(other.records[label], name), err_msg=name)


@pytest.fixture(scope="module")
def whole():
    return evaluate(PROBLEM, AGENTS, trials=2)


@pytest.fixture
def short_blocks(monkeypatch):
    """Blocks of seven rounds, as a long run has many."""
    for module in (trace, records):
        monkeypatch.setattr(module, "BLOCK", 7)


@pytest.mark.long
@pytest.mark.usefixtures("short_blocks")
def test_a_run_in_blocks_is_recorded_as_one_at_once(whole):
    assert_same(evaluate(PROBLEM, AGENTS, trials=2), whole)


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


class Wavering:
    """Its window changes in mid-run."""

    def __init__(self, setting):
        self.feedback_window = 3.0

    def reset(self, seed):
        pass

    def act(self, observation):
        return 0

    def update(self, observation, action, reward, info):
        self.feedback_window += 1.0


@pytest.mark.usefixtures("short_blocks")
def test_a_window_must_stay_what_it_is():
    with pytest.raises(ValueError, match="feedback_window of an agent must be what it was in earlier rounds"):
        evaluate(PROBLEM, {"it": Wavering}, trials=1)
