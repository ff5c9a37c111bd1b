"""Plans and results that others made: a changed plan is found, a large file is refused before it is read."""

import json
import os
import time
import tracemalloc
import uuid

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from synthetic import result

from bandit_envs.basics.files import SETTLED
from gpbandits.evaluation.result import Result
from gpbandits.experiments.store import PLAN, load_plan, write_plan
from gpbandits.experiments.study import AgentEntry, EnvironmentEntry, Study

STUDY = Study(
    "s",
    1,
    (EnvironmentEntry("GPBandit-GP-v0", "GP", {"horizon": 2, "num_arms": 3}),),
    (AgentEntry("random", "r"),),
)


@pytest.fixture
def plan(tmp_path):
    write_plan(tmp_path / PLAN, STUDY)
    return tmp_path / PLAN


def test_a_digit_of_a_plan_that_has_changed_is_found(plan):
    assert load_plan(plan).study == STUDY
    text = plan.read_text()
    places = [i for i, letter in enumerate(text) if letter.isdigit() and text[i - 1] != "\\"]
    for i in places[:: max(len(places) // 60, 1)]:
        plan.write_text(text[:i] + str((int(text[i]) + 1) % 10) + text[i + 1 :])
        with pytest.raises(ValueError, match=r"is damaged, or of another version.*run it again"):
            load_plan(plan)


def test_a_result_is_refused_by_its_size_before_it_is_read(tmp_path):
    path, kept = tmp_path / "r.parquet", result()
    kept.save(path)
    size = path.stat().st_size
    with pytest.raises(ValueError, match=f"takes more than {size - 1} bytes; pass max_bytes="):
        Result.load(path, max_bytes=size - 1)
    assert Result.load(path, max_bytes=10 * size).agents == kept.agents


def test_a_small_file_that_unpacks_to_a_large_table_is_refused(tmp_path):
    path, number = tmp_path / "r.parquet", 4 * 10**6
    column = pa.DictionaryArray.from_arrays(np.zeros(number, np.int32), ["x"])
    pq.write_table(pa.table({f"c{i}": column for i in range(40)}), path)
    assert path.stat().st_size < 10**6
    with pytest.raises(ValueError, match="bytes"):
        Result.load(path, max_bytes=10**8)


@pytest.mark.parametrize(
    ("part", "size"),
    [("shape", [10**9, 60]), ("shape", [0, 60]), ("cost_shape", [10**9]), ("action_shape", [10**9])],
)
def test_sizes_that_a_header_alone_declares_are_refused_before_memory_is_asked_for(tmp_path, part, size):
    path = tmp_path / "r.parquet"
    result(num_constraints=1).save(path)
    change(path, lambda header: header.update({part: size}))
    tracemalloc.start()
    with pytest.raises(ValueError, match="is damaged or not a Parquet file; delete it"):
        Result.load(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10**8


def test_a_column_of_text_that_unpacks_to_more_than_it_declares_is_refused(tmp_path):
    path = tmp_path / "r.parquet"
    result().save(path)
    table = pq.read_table(path)
    text = pa.array(["x" * 10**4] * len(table))  # a page of one word of 10,000 letters
    pq.write_table(table.append_column("extra", text), path)
    change(path, lambda header: None)
    with pytest.raises(ValueError, match="is damaged or not a Parquet file; delete it"):
        Result.load(path)


def change(path, how):
    """Change a file's header, and sign it anew, as somebody would who knows the format."""
    table = pq.read_table(path)
    header = json.loads(table.schema.metadata[b"gpbandits"])
    how(header)
    metadata = {b"gpbandits": json.dumps(header).encode()}  # files of older versions have no digest
    pq.write_table(table.replace_schema_metadata(metadata), path)


@pytest.mark.parametrize("path", [[1], {}, 3])
def test_what_is_no_path_is_refused(path):
    for call in (Result.load, result().save):
        with pytest.raises(ValueError, match="path must be the path of a file"):
            call(path)


def test_what_a_killed_saver_left_goes_with_the_next_save_of_the_result(tmp_path):
    path = tmp_path / "r.parquet"
    left = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    left.write_bytes(b"PAR1")
    os.utime(left, (time.time() - 2 * SETTLED,) * 2)
    result().save(path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("labels", [3, "GP-UCB", None, [], [[1]], [3]])
def test_what_are_no_labels_is_refused_where_agents_are_selected(labels):
    with pytest.raises(ValueError, match=r"labels must be a list of labels|unknown agent"):
        result().select(labels)
