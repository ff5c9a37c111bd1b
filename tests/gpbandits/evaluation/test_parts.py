"""Trials may be played in several processes, and nobody can tell from the result."""

import threading

import numpy as np
import pytest

from bandit_envs.problems import build
from gpbandits.evaluation import evaluate
from gpbandits.evaluation.play import TrialsPart

KEYWORDS = {"num_arms": 20, "horizon": 12, "delay": {"law": "poisson", "mean": 2}}
AGENTS = {"batch": "gp-ts", "held": ("gp-ucb", {"repeat": 2.0}), "random": "random"}


class Rotating:
    """An agent of one trial at a time."""

    def __init__(self, setting):
        self.round = 0

    def reset(self, seed):
        self.round = 0

    def act(self, observation):
        return self.round

    def update(self, observation, action, reward, info):
        self.round += 1


class Failing(Rotating):
    def act(self, observation):
        raise RuntimeError("it fails")


@pytest.mark.long
def test_two_processes_play_the_trials_that_one_plays():
    told, agents = [], AGENTS | {"alone": Rotating}
    problem = build("gp", KEYWORDS)
    one = evaluate(problem, agents, trials=5, seed=3, first_trial=2, checkpoints=[4, 12])
    two = evaluate(
        problem,
        agents,
        trials=5,
        seed=3,
        first_trial=2,
        checkpoints=[4, 12],
        workers=2,
        progress=lambda name, count: told.append((name, count)),
    )
    assert sorted(told) == sorted((name, count) for name in agents for count in (3, 2))
    assert list(two.records) == list(one.records)
    np.testing.assert_array_equal(two.rounds, one.rounds)
    for label, record in one.records.items():
        for name, value in record._replace(seconds=None)._asdict().items():
            if value is not None:
                np.testing.assert_equal(value, getattr(two.records[label], name), err_msg=name)


@pytest.mark.long
def test_an_error_in_another_process_says_which_agent_and_trials_it_came_from():
    with pytest.raises(RuntimeError, match="it fails") as raised:
        evaluate("GPBandit-GP-v0", {"bad": Failing}, trials=2, env_kwargs=KEYWORDS, workers=2)
    assert "while agent 'bad' played" in raised.value.__notes__


def test_what_cannot_be_sent_to_another_process_is_refused():
    lock = threading.Lock()
    with pytest.raises(
        ValueError, match="workers must be 1 for an environment or an agent that cannot be pickled"
    ):
        evaluate("GPBandit-GP-v0", {"it": lambda setting: lock}, trials=2, env_kwargs=KEYWORDS, workers=2)


@pytest.mark.parametrize("workers", [0, 1.5, True, None])
def test_jobs_are_counted(workers):
    with pytest.raises(ValueError, match="workers must be a positive integer"):
        evaluate("GPBandit-GP-v0", ["random"], trials=1, workers=workers)


@pytest.mark.parametrize("pieces", [1, 2, 3, 7, 9])
def test_parts_are_the_whole_in_order_and_none_is_empty(pieces):
    parts = TrialsPart(5, [(i, -i) for i in range(7)], None).split(pieces)
    assert len(parts) == min(pieces, 7)
    assert [seed for part in parts for seed in part.seeds] == [(i, -i) for i in range(7)]
    assert [part.first_trial for part in parts] == [5 + part.seeds[0][0] for part in parts]
    assert max(len(part.seeds) for part in parts) - min(len(part.seeds) for part in parts) <= 1
