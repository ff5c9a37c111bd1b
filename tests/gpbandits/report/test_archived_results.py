"""Agents are ranked beside archived results of the same trials, and others are refused with what differs."""

import dataclasses
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from study_cases import called

from gpbandits.evaluation import evaluate
from gpbandits.evaluation.parquet import read_metadata
from gpbandits.evaluation.result import Result
from gpbandits.report import archive
from gpbandits.report.entrants import REFERENCE, enter

NAME, OWN = "digits-repeat", "players:FirstArm"
ENV = f"GPBandit-Real/{NAME}-v2"
SHORT = {"trials": 6, "horizon": 8, "seed": 3}


def study_of(agents=(OWN,), **changed):
    (study,) = enter(environments=[ENV], agents=agents, suite="real", **{**SHORT, **changed}).studies
    return study


@pytest.fixture
def folder(tmp_path):
    """The archive of a short leaderboard."""
    write(tmp_path / "former", ["pure-exploration", REFERENCE])
    return tmp_path / "former"


def write(folder, labels, **changed):
    shape = {**SHORT, **changed}
    played = evaluate(
        ENV, labels, trials=shape["trials"], seed=shape["seed"], env_kwargs={"horizon": shape["horizon"]}
    )
    played = dataclasses.replace(played, environment=f"Real/{NAME}")
    archive.write_archive([played], [study_of(**changed)], folder)


def test_an_agent_beside_an_archive_stands_as_if_all_had_been_played_together(folder, tmp_path):
    study = study_of()
    label = study.environments[0].label
    own = evaluate(ENV, {OWN: OWN}, trials=6, seed=3, env_kwargs={"horizon": 8}, label=label)
    found = archive.beside(archive.read_archived(folder, study), own)
    write(tmp_path / "together", {"pure-exploration": "pure-exploration", REFERENCE: REFERENCE, OWN: OWN})
    together = Result.load(tmp_path / "together" / f"{NAME}.parquet")
    assert found.agents == together.agents
    for label, record in together.records.items():
        np.testing.assert_array_equal(found.records[label].regret, record.regret)
        np.testing.assert_array_equal(found.records[label].action, record.action)
        np.testing.assert_array_equal(found.simple_regret[label], together.simple_regret[label])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seed": 4}, r"has seed 3, here it is 4; pass --seed 3"),
        ({"trials": 7}, r"has trials 6, here it is 7; pass --trials 6"),
        ({"horizon": 9}, r"has horizon 8, here it is 9; pass --horizon 8"),
    ],
)
def test_other_trials_are_refused_with_what_differs_and_the_remedy(folder, changed, said):
    with pytest.raises(ValueError, match=said):
        archive.read_archived(folder, study_of(**changed))


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("id", f"GPBandit-Real/{NAME}-v1", "has version GPBandit-Real/digits-repeat-v1, here it is"),
        ("played", "0" * 16, "has digest of the environment 0000000000000000, here it is"),
    ],
)
def test_results_on_another_version_or_other_tables_are_refused(folder, part, value, said):
    path = folder / f"{NAME}.parquet"
    held, origin = Result.load(path), read_metadata(path)
    held.save(path, origin | {part: value})
    with pytest.raises(ValueError, match=f"{said}.*compute the archive again, or choose"):
        archive.read_archived(folder, study_of())


def test_what_cannot_be_ranked_is_refused(folder):
    path = folder / f"{NAME}.parquet"
    held, origin = Result.load(path), read_metadata(path)
    held.select(["pure-exploration"]).save(path, origin)
    with pytest.raises(ValueError, match="must be results of random too"):
        archive.read_archived(folder, study_of())
    held.records[REFERENCE].regret[0, 0] = np.nan
    held.save(path, origin)
    with pytest.raises(ValueError, match="regrets are all finite"):
        archive.read_archived(folder, study_of())


def test_an_archive_is_bounded_before_it_is_read(folder, monkeypatch):
    monkeypatch.setattr(archive, "MAX_BYTES", 1000)
    with pytest.raises(ValueError, match="takes more than 1000 bytes"):
        archive.read_archived(folder, study_of())


def test_a_file_of_many_rows_in_few_bytes_is_refused_by_its_rows(folder):
    path = folder / f"{NAME}.parquet"
    table = pq.read_table(path)
    header = json.loads(table.schema.metadata[b"gpbandits"])
    rows = np.zeros(2 * 10**6, np.int64)
    long = table.take(rows).replace_schema_metadata({b"gpbandits": json.dumps(header).encode()})
    pq.write_table(long, path)
    assert path.stat().st_size < 10**6
    with pytest.raises(ValueError, match=r"takes more than \d+ bytes"):
        archive.read_archived(folder, study_of())


def test_a_folder_without_files_of_the_suite_is_refused_with_the_command_that_writes_one(tmp_path, folder):
    for suite in ("ids", "real"):
        with pytest.raises(ValueError, match=f"--suite {suite} --archive` wrote"):
            archive.archived_ids(tmp_path, suite)
    with pytest.raises(ValueError, match=r"with digits-late\.parquet"):
        archive.archived_ids(folder, "real", ["GPBandit-Real/digits-late-v2"])
    assert archive.archived_ids(folder, "real") == [ENV]


@pytest.mark.long
def test_the_command_ranks_an_agent_beside_an_archive_and_plays_no_other(
    folder, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    command = ["leaderboard", "--suite", "real", "--against", str(folder), "--agent", OWN, "--workers", "1"]
    shape = "--trials 6 --horizon 8 --seed 3 --out page"
    code, _, err = called(capsys, *command, *shape.split())
    assert code == 0, err
    page = (tmp_path / "page" / "leaderboard-real.md").read_text()
    assert f"| {OWN} | " in page
    assert "| pure-exploration | " in page
    assert "which are believed" in page
    stored = [read_metadata(path) for path in (tmp_path / "results").rglob("*.parquet")]
    assert len(stored) == 1
    assert OWN in json.dumps(stored)
