"""Logs: what is refused, by its row, and files that hold the same log."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from gpbandits.logs import PlayLog, read_log, reading, value_of

GOOD = {
    "action": [0, 1, 1, 0],
    "reward": [1.0, 0.0, np.nan, 2.0],
    "propensity": [0.5, 0.25, 0.25, 1.0],
    "time": [0.0, 1.0, 1.0, 3.5],
    "delivered": [0.5, 4.0, np.nan, 3.5],
    "context": [[1.0, 0.0], [2.0, 0.0], [1.0, 0.0], [2.0, 1.0]],
}
BAD = {
    "propensity": [(0.0, r"row 3 must have a propensity in \(0, 1\], got 0"), (1.1, "row 3 .*propensity")],
    "time": [(0.5, "row 3 must not be earlier than the last"), (np.nan, "row 3 must have a finite time")],
    "delivered": [(0.5, "row 3 must not be delivered before its time"), (2.0, "row 3 .*finite reward")],
    "reward": [(1.0, "row 3 must have no reward before its delivery")],
    "action": [(2, "row 3 must have an action in 0..1, got 2"), (-1, "row 3 must have an action")],
    "context": [([1.0, np.nan], "row 3 must have finite contexts")],
}


@pytest.mark.parametrize(
    ("name", "value", "words"), [(name, *each) for name, cases in BAD.items() for each in cases]
)
def test_an_impossible_value_is_refused_by_its_row(name, value, words):
    columns = {key: list(values) for key, values in GOOD.items()}
    columns[name][2] = value
    with pytest.raises(ValueError, match=words):
        PlayLog(**columns, actions=2)


def test_an_unknown_label_is_refused_by_its_row():
    with pytest.raises(ValueError, match="row 2 must have an action among red, blue, got green"):
        PlayLog(["red", "green"], [0.0, 0.0], [0.5, 0.5], actions=["red", "blue"])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_log_is_the_same_after_it_was_saved_and_read(tmp_path, kind):
    log, path = PlayLog(**GOOD), tmp_path / "log.csv"
    log.save(path)
    if kind == "parquet":
        csv, parquet = (pytest.importorskip(f"pyarrow.{name}") for name in ("csv", "parquet"))
        path = tmp_path / "log.parquet"
        parquet.write_table(csv.read_csv(tmp_path / "log.csv"), path)
    again = read_log(path)
    for name in (*GOOD, "until", "actions"):
        np.testing.assert_array_equal(getattr(again, name), getattr(log, name))


def test_contexts_are_numbers_or_categories_and_times_may_be_dates(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "when,item,p,click,device,age\n"
        "2024-05-01T12:00:00,shoe,0.5,1,phone,30\n"
        "2024-05-01T12:00:02.5+00:00,hat,0.5,0,desk,20\n"
    )
    log = read_log(
        path, time="when", action="item", propensity="p", reward="click", context=["device", "age"]
    )
    assert log.actions == ("hat", "shoe")
    assert log.action.tolist() == [1, 0]
    assert np.diff(log.time).tolist() == [2.5]
    assert log.context.tolist() == [[0.0, 1.0, 30.0], [1.0, 0.0, 20.0]]  # desk, phone, age


@pytest.mark.parametrize("actions", [["101", "007", "7"], [101, "007", 7]])
def test_numbers_of_a_file_are_labels_where_labels_are_given(tmp_path, actions):
    path = tmp_path / "log.csv"
    path.write_text("action,propensity,reward,available\n101,0.5,1,101|7\n7,0.5,0,7|007\n007,1,0,007\n")
    log = read_log(path, actions=actions)
    assert log.actions == ("101", "007", "7")
    assert log.action.tolist() == [0, 2, 1]
    assert log.available.tolist() == [[True, False, True], [False, True, True], [False, True, False]]
    with pytest.raises(ValueError, match="row 1 must have an action among 7, 007, got 101"):
        read_log(path, actions=["7", "007"])
    path.write_text("action,propensity,reward\n1,0.5,1\n0,0.5,0\n")
    for known in (None, 3):
        assert read_log(path, actions=known).action.tolist() == [1, 0]


def feature_log(path, cells: list[str]) -> PlayLog:
    lines = (f"{i % 2},0.5,1,{cell}\n" for i, cell in enumerate(cells))
    path.write_text("action,propensity,reward,context\n" + "".join(lines))
    return read_log(path)


@pytest.mark.parametrize("most", [1, 7, 20])
def test_numbers_are_read_in_the_same_way_whether_their_texts_are_kept_or_not(tmp_path, monkeypatch, most):
    monkeypatch.setattr(reading, "CHUNK", 5)
    monkeypatch.setattr(reading, "MOST_TEXTS", most)
    cells = ["0.5", "-1", "1e3", "0.50", "7", "7", *map(str, range(10)), "0.5"]
    read = feature_log(tmp_path / "log.csv", cells).context
    assert read[:, 0].tolist() == list(map(float, cells))


def test_texts_of_a_column_of_many_numbers_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_TEXTS", 100)
    reader = reading.FeatureReader("age")
    tracemalloc.start()
    for start in range(0, 20_000, 50):
        reader.take([str(start + i) for i in range(50)], start)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 40 * 20_000  # bytes: a text takes 54, a number 8
    assert reader.features()[0].tolist() == list(range(20_000))


WIDE = {  # cells of rows 1 to 12, where texts of 8 are kept
    "row 12 must have a number as context": {11: "red"},
    "row 3 must have a number as context": {2: "red"},
    "row 12 must have every context feature, got an empty cell": {11: ""},
    "row 12 must have a number as context, a feature of more than 8 different values, got 'nan'": {11: "nan"},
}


@pytest.mark.parametrize(("words", "changed"), WIDE.items())
def test_a_column_of_too_many_categories_is_refused_by_its_row(tmp_path, monkeypatch, words, changed):
    monkeypatch.setattr(reading, "CHUNK", 5)
    monkeypatch.setattr(reading, "MOST_TEXTS", 8)
    with pytest.raises(ValueError, match=words):
        feature_log(tmp_path / "log.csv", [changed.get(i, str(i)) for i in range(12)])


DAMAGED = {
    "0,1,0.5\n": "row 2 must have 4 cells, got 3",
    "0,1,half,1\n": "row 2 must have a number as propensity, got 'half'",
    "0,1,0.5,nan\n": "row 2 must have a number as reward, got 'nan'",
    "0,,0.5,1\n": "row 2 must have an action, got an empty cell",
    "noon,1,0.5,1\n": "row 2 must have a number as time, or a date, got 'noon'",
    "0,-1,0.5,1\n0,1,1,1\n": "row 2 must have an index, as most rows have, .* got .-1.",
    "0,1000,0.5,1\n": "row 2 must have an index of at most 999 as action, or give actions=.labels., got 1000",
    "0, ,0.5,1\n": "row 2 must have an action, got an empty cell",
    "\n0,1,0.5,1\n": "row 2 must have cells, got an empty line",
    "-1,1,0.5,1\n": "row 2 must not be earlier than the last",
    "0,1,0.5,\n": "row 2 must have a finite reward, or no delivery",
}


@pytest.mark.parametrize(("line", "words"), DAMAGED.items())
def test_a_damaged_row_is_refused_by_its_number(tmp_path, line, words):
    path = tmp_path / "log.csv"
    path.write_text("time,action,propensity,reward\n0,0,0.5,1\n" + line)
    with pytest.raises(ValueError, match=words):
        read_log(path)


def test_text_among_actions_of_a_known_number_is_refused_by_its_row(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("action,propensity,reward\n0,0.5,1\nx,0.5,1\n")
    with pytest.raises(ValueError, match=r"row 2 must have an action in 0..1, got x"):
        read_log(path, actions=2)


def test_text_among_numbers_of_a_context_is_refused_by_its_row(tmp_path):
    with pytest.raises(
        ValueError, match=r"row 3 must have a number as context, as most rows have, .* got 'x'"
    ):
        feature_log(tmp_path / "log.csv", ["1", "2", "x", "3"])
    assert feature_log(tmp_path / "log.csv", ["1", "y", "x", "1"]).context.shape == (4, 3)


def test_blanks_around_cells_and_empty_lines_at_the_end_do_not_count(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "action, propensity,reward,context\nhat, 0.5,1,desk\n hat,0.5,1, desk\nshoe ,0.5,0,phone\n\n\n"
    )
    log = read_log(path)
    assert (len(log), log.actions, log.context.shape[1]) == (3, ("hat", "shoe"), 2)
    odd = PlayLog(["a ", "b"], [0.0, 1.0], [0.5, 0.5])
    odd.save(path)
    assert read_log(path, actions=odd.actions).actions == ("a ", "b")


@pytest.mark.parametrize("kind", [str, float])
def test_labels_that_are_numbers_are_in_ascending_order_of_their_values(kind):
    doses = [2.5, 10.0, 0.5, 10.0]
    log = PlayLog([kind(dose) for dose in doses], [0.0] * 4, [0.5] * 4)
    assert log.actions == ("0.5", "2.5", "10.0")
    assert log.action.tolist() == [1, 2, 0, 2]
    listed = PlayLog(["2.5"], [0.0], [0.5], available=[["10.0", "2.5"]])
    assert listed.actions == ("2.5", "10.0")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tau": -1.0}, "tau must be None or a positive number"),
        ({"least": "0.1"}, "least must be a number of at least 0"),
        ({"now": 3}, "now must be None or a PlayLog"),
        ({"model": ([0.0], [0.0])}, "model must be None, or two arrays of 4 finite numbers"),
        ({"model": ([np.nan] * 4, [0.0] * 4)}, "model must be None, or two arrays of 4 finite numbers"),
        ({"policy": []}, "policy must be a probability for each action"),
    ],
)
def test_what_a_valuation_cannot_use_is_refused_by_its_name(given, words):
    log = PlayLog([0, 1] * 2, [0.0, 1.0] * 2, [0.5] * 4)
    with pytest.raises(ValueError, match=words):
        value_of(**{"policy": [0.5, 0.5], "log": log} | given)


@pytest.mark.parametrize(
    ("header", "rows", "line"), [("action", 2, 3), ("action", 5000, 5001), ("größe", 3, 1)]
)
def test_bytes_that_are_not_utf8_are_refused_by_file_and_line(tmp_path, header, rows, line):
    path = tmp_path / "old.csv"
    path.write_bytes(
        f"{header},propensity,reward\n".encode("latin-1") + b"hat,0.5,1\n" * (rows - 1) + b"h\xfct,0.5,1\n"
    )
    with pytest.raises(ValueError, match=rf"path must be a CSV in UTF-8; line {line} is not, got .*old\.csv"):
        read_log(path)


def test_a_column_that_is_not_there_is_refused_with_those_that_are(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("action,propensity,click\n0,0.5,1\n")
    with pytest.raises(ValueError, match="column must be one of action, propensity, click, got 'reward'"):
        read_log(path)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::gpbandits.logs.LogWarning")
def test_a_million_rows_are_read_and_valued(tmp_path):
    rng, n, actions = np.random.default_rng(0), 1_000_000, 10
    context = rng.normal(size=(n, 2)).round(3)
    action, reward = rng.integers(actions, size=n), rng.normal(size=n).round(3)
    log = PlayLog(action, reward, np.full(n, 1.0 / actions), context=context, time=np.arange(n) / 7.0)
    log.save(tmp_path / "log.csv")
    del log, context, action, reward
    found = value_of(np.full(actions, 1.0 / actions), read_log(tmp_path / "log.csv"))
    assert found["ips"].value == pytest.approx(found.logged, abs=1e-12)  # of the same uniform policy
    assert abs(found["dr"].value - found.logged) < 1e-3
