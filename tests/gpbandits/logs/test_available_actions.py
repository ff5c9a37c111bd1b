"""Logs say which actions could be chosen, and a policy is valued by its choices among these."""

from __future__ import annotations

import numpy as np
import pytest

from agents.registry import resolve_agent
from gpbandits import evaluate, read_log
from gpbandits.logs import PlayLog, value_of
from gpbandits.logs.policies import allowed_actions
from gpbandits.logs.replay import replayed

pytestmark = pytest.mark.filterwarnings("ignore::gpbandits.logs.LogWarning")
LABELS = ["coat", "hat", "shoe"]
MEANS = np.array([0.2, 0.5, 0.8])
POLICY = np.array([0.2, 0.3, 0.5])
VOLATILE = {"num_arms": 6, "horizon": 200, "availability": {"law": "bernoulli", "p": 0.5}}


def volatile_log(n: int = 3000, seed: int = 0, best: float = 0.5) -> PlayLog:
    """Uniform plays of what is available: the best action with a probability, the others always."""
    rng = np.random.default_rng(seed)
    mask = np.ones((n, 3), dtype=bool)
    mask[:, 2] = rng.random(n) < best
    action = (rng.random(n) * mask.sum(axis=1)).astype(int)
    reward = MEANS[action] + 0.1 * rng.normal(size=n)
    return PlayLog(action, reward, 1.0 / mask.sum(axis=1), actions=LABELS, available=mask)


def test_an_action_that_was_not_available_is_refused_by_its_row():
    mask = np.array([[True, True], [True, False]])
    with pytest.raises(ValueError, match="row 2 must have an action that was available, got 1"):
        PlayLog([0, 1], [0.0, 0.0], [0.5, 0.5], available=mask)
    with pytest.raises(ValueError, match=r"row 2 must have available actions .* got \['glove'\]"):
        PlayLog(["hat"] * 2, [0.0] * 2, [0.5] * 2, actions=LABELS[:2], available=[["hat"], ["glove"]])
    with pytest.raises(ValueError, match=r"row 1 must have available actions"):
        PlayLog(["hat"], [0.0], [0.5], available=[[]])
    with pytest.raises(ValueError, match=r"available must be a mask of shape \(2, 2\)"):
        PlayLog([0, 1], [0.0, 0.0], [0.5, 0.5], available=np.ones((2, 3), dtype=bool))


def test_lists_of_labels_are_a_mask_and_name_actions_that_were_never_played():
    rows = [["hat", "coat"], ["shoe", "hat"], ["hat"]]
    log = PlayLog(["hat"] * 3, [0.0] * 3, [0.5, 0.5, 1.0], available=rows)
    assert log.actions == tuple(LABELS)
    assert log.available.tolist() == [[label in row for label in LABELS] for row in rows]
    numbers = PlayLog([1, 1], [0.0] * 2, [0.5] * 2, available=[[0, 1], [1, 4]])
    assert numbers.num_actions == 5


@pytest.mark.parametrize("kind", ["csv", "parquet", "lists"])
def test_a_file_holds_what_was_available(kind, tmp_path):
    log, path = volatile_log(50), tmp_path / "log.csv"
    log.save(path)
    if kind != "csv":
        pytest.importorskip("pyarrow")
        from pyarrow import csv, parquet, table

        columns = csv.read_csv(path).to_pydict()
        if kind == "lists":
            columns["available"] = [cell.split("|") for cell in columns["available"]]
        path = tmp_path / "log.parquet"
        parquet.write_table(table(columns), path)
    read = read_log(path, actions=LABELS)
    np.testing.assert_array_equal(read.available, log.available)
    assert repr(value_of(POLICY, read)) == repr(value_of(POLICY, log))


def test_an_empty_cell_and_an_ambiguous_label_are_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("action,propensity,reward,available\nhat,0.5,1,hat|shoe\nhat,0.5,1,\n")
    with pytest.raises(ValueError, match="row 2 must have available actions, got an empty cell"):
        read_log(path)
    odd = PlayLog(["a|b"], [0.0], [1.0], available=[["a|b", "c"]])
    with pytest.raises(ValueError, match=r"actions must be labels without '\|'"):
        odd.save(path)


def test_a_policy_is_valued_on_what_was_available():
    log = volatile_log()
    own = np.where(log.available, POLICY, 0.0)
    own /= own.sum(axis=1, keepdims=True)
    plain = PlayLog(log.action, log.reward, log.propensity, actions=LABELS)
    assert dict(value_of(POLICY, log)) == dict(value_of(own, plain))
    truth = float((own @ MEANS).mean())
    for each in value_of(POLICY, log).values():
        assert abs(each.value - truth) < each.high - each.low  # four standard errors


@pytest.mark.parametrize("never", [["shoe"], [2]])
def test_a_policy_never_chooses_what_it_must_not(never):
    log = volatile_log()
    found = value_of(POLICY, log, never=never)["dr"]
    truth = (POLICY[:2] @ MEANS[:2]) / POLICY[:2].sum()
    assert abs(found.value - truth) < found.high - found.low  # four standard errors
    plain = PlayLog(log.action, log.reward, log.propensity, actions=LABELS)
    assert found == value_of(POLICY, plain, never=never)["dr"]


@pytest.mark.parametrize(
    ("never", "words"),
    [
        (["glove"], "never must be a list of actions among coat, hat, shoe"),
        ("hat", "never must be a list of actions"),
        (["coat", "hat"], r"row \d+ must have an available action beside those that are never chosen"),
    ],
)
def test_what_is_never_chosen_are_actions_that_leave_some(never, words):
    with pytest.raises(ValueError, match=words):
        value_of(POLICY, volatile_log(), never=never)


def test_a_policy_without_an_available_action_is_refused_by_its_row():
    with pytest.raises(ValueError, match=r"row \d+ must have an available action that the policy chooses"):
        value_of([0.0, 0.0, 1.0], volatile_log())


@pytest.mark.parametrize("name", ["epsilon-greedy", "gp-agent", "lin-ucb"])
def test_a_learning_agent_is_replayed_on_what_was_available(name):
    log = volatile_log(900)
    allowed = allowed_actions(log, [0])
    rows = replayed(log, resolve_agent(name), np.arange(len(log)), 200, 0, allowed)[0]
    assert (log.action[rows] != 0).all()
    assert len(rows) == 200
    there = log.available[rows, 2]
    assert (log.action[rows][100:] == np.where(there, 2, 1)[100:]).mean() > 0.8  # it learns the better one


@pytest.mark.parametrize("trials", [1, 2])
def test_logs_of_our_own_loop_say_which_arms_were_there(trials):
    result = evaluate("GPBandit-GP-v0", ["random"], trials=trials, env_kwargs=VOLATILE, log=True)
    for log in result.logs["random"]:
        assert 0.3 < log.available.mean() < 0.7
        np.testing.assert_allclose(log.propensity, 1.0 / log.available.sum(axis=1))
        uniform = value_of(np.full(6, 1 / 6), log, methods=["ips"])["ips"]
        assert uniform.value == pytest.approx(log.mean, rel=1e-12)  # the same policy: all weights are 1
