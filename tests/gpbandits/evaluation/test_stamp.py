"""Archives say which code played what, and when."""

from datetime import datetime

import numpy as np
import pytest
from players import FirstArm
from sklearn.gaussian_process.kernels import RBF
from synthetic import result as synthetic_result

from bandit_envs.environment.envs import make
from bandit_envs.laws.functions import KnownFunction, Moments
from bandit_envs.laws.tabulated import RecordedValues
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.real import real
from gpbandits import Result, evaluate
from gpbandits.evaluation import stamp as stamps
from gpbandits.evaluation.parquet import DamagedFileError, read_metadata, write
from gpbandits.evaluation.stamp import fingerprint, stamp


def test_an_archive_carries_commit_code_versions_time_and_what_was_played(tmp_path):
    said = stamp("GPBandit-Real/digits-late-v2", {"horizon": 50}, "random")
    synthetic_result().condensed([1]).save(tmp_path / "a.parquet", said, timings=False)
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


SMALL = {"num_arms": 10, "horizon": 5}


def played():
    return evaluate("GPBandit-GP-v0", ["random"], trials=2, env_kwargs=SMALL)


def test_a_loaded_result_says_by_which_code_it_was_played_what_and_when(tmp_path):
    before = datetime.now().astimezone().replace(microsecond=0)
    result = played()
    result.save(tmp_path / "a.parquet")
    (found,) = Result.load(tmp_path / "a.parquet").origins
    assert {"bandit_envs", "agents", "gpbandits"} <= set(found["code"])
    assert {"python", "numpy", "gpbandits"} <= set(found["versions"])
    assert before <= datetime.fromisoformat(found["finished"]) <= datetime.now().astimezone()
    assert found["commit"] == stamps.commit()
    problem = make("GPBandit-GP-v0", **SMALL).unwrapped.problem
    assert found["played"] == fingerprint(problem)
    shown = repr(Result.load(tmp_path / "a.parquet"))
    assert found["finished"] in shown
    assert found["played"] in shown


def test_a_result_that_is_saved_again_keeps_the_origin_of_its_numbers(tmp_path, monkeypatch):
    played().save(tmp_path / "a.parquet")
    first = Result.load(tmp_path / "a.parquet")
    monkeypatch.setattr(stamps, "commit", lambda: "another")
    first.select(["random"]).save(tmp_path / "b.parquet")
    assert Result.load(tmp_path / "b.parquet").origins == first.origins
    played().save(tmp_path / "c.parquet")
    assert Result.load(tmp_path / "c.parquet").origins[0]["commit"] == "another"


def test_without_timings_equal_numbers_are_equal_bytes_whenever_they_were_played(tmp_path, monkeypatch):
    played().save(tmp_path / "a.parquet", timings=False)
    monkeypatch.setattr(stamps, "now", lambda: "later")
    played().save(tmp_path / "b.parquet", timings=False)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_the_package_of_an_agent_of_ones_own_is_among_the_code(tmp_path):
    evaluate("GPBandit-GP-v0", {"mine": FirstArm}, trials=1, env_kwargs=SMALL).save(tmp_path / "a.parquet")
    assert "players" in Result.load(tmp_path / "a.parquet").origins[0]["code"]


@pytest.mark.parametrize("origins", [[3], [{}], [{"commit": 3}]])
def test_forged_origins_are_a_damaged_file(tmp_path, origins):
    write(played(), tmp_path / "a.parquet", {}, origins=origins)
    with pytest.raises(DamagedFileError):
        Result.load(tmp_path / "a.parquet")


def test_the_address_of_a_function_is_no_part_of_a_fingerprint():
    def problem():
        return Problem(Decisions(np.arange(5.0)[:, None]), KnownFunction(lambda x: x[:, 0]), RBF())

    assert fingerprint(problem()) == fingerprint(problem())


def test_the_last_digit_of_a_number_is_no_part_of_a_fingerprint():
    """Processors differ in it."""

    def problem(arms: float = 1.0, values: float = 1.0, scale: float = 1.0):
        table = RecordedValues(values * np.array([[0.1, 0.7, 0.3]]), moments=Moments(0.7 * values))
        return Problem(Decisions(arms * np.array([[0.0], [1.0], [3.0]])), table, RBF(0.3 * scale))

    nearly, more = 1.0 + 3e-16, 1.01
    assert fingerprint(problem(nearly, nearly, nearly)) == fingerprint(problem())
    others = [problem(arms=more), problem(values=more), problem(scale=more)]
    assert len({fingerprint(each) for each in (problem(), *others)}) == 4
