"""The calls of an agent are kept in columns, whatever their arguments are."""

import numpy as np
import pytest
from agent_cases import on_a_line
from players import FirstArm

import agents
from agents.saving import decode, read, recorded
from agents.saving.recorded import BLOCK, FORM, unpacked

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


class Silent(FirstArm):
    """Takes everything and plays nothing."""

    def act(self, observation):
        return None

    def drop(self, rounds, trial=None):
        pass


@pytest.fixture
def silent():
    return agents.make(f"{__name__}:Silent", on_a_line(5))


def content_of(agent, path):
    """Return the blocks of calls that the file of an agent holds: names, and columns by name."""
    agent.save(path)
    return [(names, decode(columns)) for names, columns in read(path, FORM)["calls"]]


def kept_of(agent, path, name):
    calls = [call for block in content_of(agent, path) for call in unpacked(*block)]
    return [kept for each, kept in calls if each == name]


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_it_gives_back_what_it_was_given(values, silent, tmp_path):
    given = [*values * BLOCK, values[0]]  # more than three blocks
    for value in given:
        silent.act(value)
    names = [name for names, _ in content_of(silent, tmp_path / "a.json") for name in names]
    assert names == ["act"] * (3 * BLOCK + 1)
    kept = kept_of(silent, tmp_path / "a.json", "act")
    assert all(each["action"] is None for each in kept)
    assert all(map(same, [each["observation"] for each in kept], given))


def test_observations_of_one_shape_are_an_array_a_block(silent, tmp_path):
    for k in range(2 * BLOCK + 3):
        silent.act(np.array([float(k)]))
    columns = [columns["act"]["observation"] for _, columns in content_of(silent, tmp_path / "a.json")]
    assert all(isinstance(column, np.ndarray) for column in columns)
    assert [column.shape for column in columns] == [(BLOCK, 1), (BLOCK, 1), (3, 1)]


def test_kinds_of_calls_stand_in_a_file_as_they_were_first_made(silent, tmp_path):
    silent.reset(0)
    for name in ("drop", "act"):
        getattr(silent, name)(1)
    silent.update(0, 1, 2.0, {})
    ((names, columns),) = content_of(silent, tmp_path / "a.json")
    assert names == [*columns] == ["reset", "drop", "act", "update"]  # not as hashes of a process have them


def test_it_keeps_copies(silent, tmp_path):
    buffer = np.zeros(2)
    for k in range(3):
        buffer[:] = k
        silent.update(buffer, [buffer], {"of": buffer}, {"feedback_mask": buffer, "oracle": buffer})
    buffer[:] = 9.0
    for k, kept in enumerate(kept_of(silent, tmp_path / "a.json", "update")):
        assert kept["info"].keys() == {"feedback_mask"}
        for array in (kept["observation"], *kept["action"], kept["reward"]["of"], *kept["info"].values()):
            assert array.tolist() == [k, k]


@pytest.mark.parametrize("after", range(2))
def test_columns_whose_writing_was_interrupted_are_written_again(after, silent, tmp_path, monkeypatch):
    stacked, calls = recorded.stacked, []
    for k in range(BLOCK - 1):
        silent.drop(k, [k])

    def interrupted(values):
        if len(calls) == after:
            raise KeyboardInterrupt
        calls.append(values)
        return stacked(values)

    with monkeypatch.context() as patch:
        patch.setattr(recorded, "stacked", interrupted)
        with pytest.raises(KeyboardInterrupt):
            silent.save(tmp_path / "a.json")
        with pytest.raises(KeyboardInterrupt):
            silent.drop(BLOCK - 1, [BLOCK - 1])  # which was made, and is recorded
    silent.drop(BLOCK, [BLOCK])
    kept = kept_of(silent, tmp_path / "a.json", "drop")
    assert [each["rounds"] for each in kept] == [*range(BLOCK + 1)]
    assert [list(each["trial"]) for each in kept] == [[k] for k in range(BLOCK + 1)]
