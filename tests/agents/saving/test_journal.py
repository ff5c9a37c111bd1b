"""What an agent was told is kept in columns, whatever it was told, and in little memory."""

import tracemalloc

import numpy as np
import pytest
from agent_cases import on_a_line

import agents
from agents.saving import recorded
from agents.saving.recorded import BLOCK, CallLog, rows_of

ALIKE = [np.float32([1, 2]), np.float32([3, 4]), np.float32([5, 6])]
VALUES = {
    "arrays": ALIKE,
    "numbers": [1, 2, 3],
    "empty arrays": [np.empty(0), np.empty(0), np.empty(0)],
    "arrays of no columns": [np.empty((2, 0))] * 3,
    "arrays of no rows": [np.empty((0, 2))] * 3,
    "words": [[1, 2], [3], []],
    "numbers too large for an array": [10**30, 1, 2],
    "shapes that change": [np.ones(2), np.ones(3), np.ones(2)],
    "types that change": [1, 2.5, True],
    "numbers and none": [None, 1.0, None],
    "dicts": [{"a": each, "b": {"c": k}} for k, each in enumerate(ALIKE)],
    "keys that change": [{"a": 1}, {"b": 1}, {"a": 2}],
    "dicts and numbers": [{"a": 1}, 2, {}],
}


def same(first, second):
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    return np.array_equal(first, second) and np.asarray(first).dtype == np.asarray(second).dtype


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_it_gives_back_what_it_was_given(values):
    journal = CallLog()
    for value in values * BLOCK:  # three blocks
        journal.record("act", list, value)
    journal.record("act", list, values[0])
    assert journal.whole.events == ["act"] * (3 * BLOCK + 1)
    ((column,),) = [columns for columns in journal.whole.columns if columns]
    assert all(map(same, rows_of(column), [*values * BLOCK, values[0]]))


def test_blocks_of_one_shape_are_one_array():
    journal = CallLog()
    for k in range(2 * BLOCK + 3):
        journal.record("act", list, np.array([float(k)]))
    ((column,),) = [columns for columns in journal.whole.columns if columns]
    assert isinstance(column, np.ndarray)
    assert column.shape == (2 * BLOCK + 3, 1)


def test_it_keeps_copies():
    journal, buffer = CallLog(), np.zeros(2)
    for k in range(3):
        buffer[:] = k
        journal.record("update", list, buffer, {"seen": [buffer]}, 1.0, {"mask": buffer})
    buffer[:] = 9.0
    point, _, _, info = journal.whole.columns[2]
    assert point[:, 0].tolist() == info["mask"][:, 0].tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("after", range(2))
def test_columns_whose_writing_was_interrupted_are_written_again(after, monkeypatch):
    journal, stacked, calls = CallLog(), recorded.stacked, []
    for k in (1, 2, 3):
        journal.record("drop", list, k, [k])

    def interrupted(values):
        if len(calls) == after:
            raise KeyboardInterrupt
        calls.append(values)
        return stacked(values)

    with monkeypatch.context() as patch:
        patch.setattr(recorded, "stacked", interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(journal.whole.columns)
    journal.record("drop", list, 4, [4])
    assert journal.whole.events == ["drop"] * 4
    assert journal.whole.columns[3][0].tolist() == [1, 2, 3, 4]
    assert [list(each) for each in journal.whole.columns[3][1]] == [[1], [2], [3], [4]]


@pytest.mark.long
def test_an_agent_played_by_hand_grows_by_hundreds_of_bytes_a_round_at_most():
    agent = agents.make("gp-ucb", on_a_line(5, horizon=2000))
    agent.reset(0)
    seen = np.zeros(1, dtype=np.float32)

    def play(rounds):
        for t in rounds:
            arm = agent.act(seen)
            now = {"feedback_step": np.array([t]), "feedback_reward": np.array([0.5])}
            agent.update(seen, arm, 0.5, {"t": t, "feedback_mask": np.ones(1, dtype=bool), **now})

    play(range(256))
    tracemalloc.start()
    play(range(256, 1280))
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 400 * 1024
