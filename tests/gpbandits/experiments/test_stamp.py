"""Archives say which code played what, and when."""

from datetime import datetime

from synthetic import result as synthetic_result

from bandit_envs.problems.real import real
from gpbandits.evaluation.parquet import read_metadata
from gpbandits.experiments.stamp import fingerprint, stamp
from gpbandits.reproductions.page import condensed


def test_an_archive_carries_commit_code_versions_time_and_what_was_played(tmp_path):
    said = stamp("GPBandit-Real/digits-late-v2", {"horizon": 50}, "random")
    condensed(synthetic_result(), [1]).save(tmp_path / "a.parquet", said, timings=False)
    found = read_metadata(tmp_path / "a.parquet")
    assert found == said
    assert {"bandit_envs", "agents", "gpbandits"} <= set(found["code"])
    assert {"python", "numpy", "gpbandits"} <= set(found["versions"])
    assert datetime.fromisoformat(found["written"]).tzinfo is not None
    assert found["played"] == fingerprint(real(task="digits-late", horizon=50))


def test_another_table_horizon_or_part_is_another_fingerprint():
    made = [real(task="digits-late"), real(task="digits-late", horizon=50), real(task="digits-repeat")]
    assert len({fingerprint(each) for each in [*made, real(task="digits-late", noise_std=0.5)]}) == 4
    assert fingerprint(made[0]) == fingerprint(real(task="digits-late"))
