"""A submission is accepted if its trials, played again, are what the file says, and refused with reasons."""

import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from bandit_envs.problems.real import tasks
from gpbandits.commands import app
from gpbandits.evaluation import evaluate
from gpbandits.report.entrants import entrant_of
from gpbandits.report.submission import _KEY, check_submission, write_submission

TASKS = ("digits-limit", "digits-repeat")


@pytest.fixture
def path(tmp_path):
    results = {
        task: evaluate(f"GPBandit-Real/{task}-v2", ["config"], trials=3, env_kwargs={"horizon": 6}, seed=4)
        for task in TASKS
    }
    write_submission(results, "config", {}, tmp_path / "sent.parquet")
    return tmp_path / "sent.parquet"


def change(path, columns=None, **specified):
    """Write the file again with other columns or another specification."""
    table = pq.read_table(path)
    spec = json.loads(table.schema.metadata[_KEY]) | specified
    held = {name: table[name].to_numpy().copy() for name in table.column_names}
    if columns:
        columns(held)
    again = pa.table(held).replace_schema_metadata({_KEY: json.dumps(spec).encode()})
    pq.write_table(again, path)


@pytest.mark.long
def test_what_was_played_is_accepted_after_so_many_trials_have_been_played_again(path):
    verdict = check_submission(path, 4)
    assert verdict.reasons == []
    assert len(set(verdict.replayed)) == 4
    assert all(task in TASKS and trial < 3 for task, trial in verdict.replayed)
    assert len(check_submission(path, 100).replayed) == 6


@pytest.mark.long
def test_the_trials_that_are_played_again_depend_on_every_byte(path):
    chosen = set()
    for i in range(8):
        change(path, versions={"x": str(i)})
        chosen.add(tuple(check_submission(path, 2).replayed))
    assert len(chosen) > 1


@pytest.mark.long
@pytest.mark.parametrize("column", ["action", "regret", "violation"])
def test_a_number_that_was_not_played_is_refused_with_its_round(path, column):
    def better(held):
        held[column][held["round"] == 3] += 1

    change(path, better)
    verdict = check_submission(path, 6)
    assert len(verdict.reasons) == 6
    assert all("round 3: the file has" in reason for reason in verdict.reasons)


def test_a_submission_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"path must be that of a file which exists, got 'nowhere\.parquet'"):
        check_submission("nowhere.parquet")


CHEATS = """
import gc
import sys

import numpy as np
from players import FirstArm

if {meddle}:
    np.isclose = lambda first, *others, **options: np.ones(np.shape(first), dtype=bool)


class Thief(FirstArm):
    privileged = {privileged}

    def act(self, observation):
        found = [each for each in gc.get_objects() if type(each).__name__ == "SingleSimulator"]
        trials = [each.trials[0] for each in found if each.trials[0] is not None]
        own = [trial for trial in trials if np.array_equal(trial.setting.arms, self.setting.arms)]
        return int(own[-1].means[0, 0].argmax()) if own else 0
"""


@pytest.mark.long
@pytest.mark.parametrize("how", ["comparison replaced", "truth in memory", "truth on request"])
def test_an_agent_that_meddles_with_the_comparison_or_reads_the_truth_is_refused(tmp_path, monkeypatch, how):
    module, few = f"cheat_{how.replace(' ', '_')}", {"horizon": 6}
    text = CHEATS.format(meddle=how == "comparison replaced", privileged=how == "truth on request")
    (tmp_path / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("isclose", "allclose"):
        monkeypatch.setattr(np, name, getattr(np, name))  # restores it
    agent = {"a": f"{module}:Thief"}
    result = evaluate("GPBandit-Real/digits-repeat-v2", agent, trials=2, env_kwargs=few, seed=4)
    monkeypatch.undo()
    monkeypatch.delitem(sys.modules, module)
    monkeypatch.syspath_prepend(tmp_path)
    sent = tmp_path / "sent.parquet"
    write_submission({"digits-repeat": result}, "random", {}, sent, label="a")
    change(sent, agent=f"{module}:Thief")
    if how == "comparison replaced":
        change(sent, lambda held: held["regret"].fill(0.0))
    verdict = check_submission(sent, 2)
    assert len(verdict.reasons) == 2
    assert module not in sys.modules  # its code did not run here
    assert np.isclose(0.0, 1.0) == False  # noqa: E712


@pytest.mark.long
def test_a_submission_of_another_agent_is_refused(path):
    change(path, agent="random")
    assert check_submission(path, 6).reasons


@pytest.mark.long
@pytest.mark.parametrize(
    "spec", [{"agent": "gp-ucbb"}, {"agent": "nowhere:Agent"}, {"options": {"detla": 0.1}}]
)
def test_an_agent_that_cannot_be_made_is_refused_with_the_reason(path, spec):
    change(path, **spec)
    (reason,) = check_submission(path, 1).reasons
    assert "cannot be played: " in reason
    assert any(each in reason for each in ("gp-ucbb", "nowhere", "detla"))


@pytest.mark.long
def test_rows_that_are_left_out_are_named_before_anything_is_played(path):
    def cut(held):
        kept = ~((held["task"] == TASKS[0]) & (held["trial"] == 1))
        for name in held:
            held[name] = held[name][kept]

    change(path, cut)
    replayed, (reason,) = check_submission(path)
    assert replayed == []
    assert reason.startswith("digits-limit: the file must have one row for each of 3 trials x 6 rounds")
    change(path, horizon={"digits-repeat": 6, "digits-eternal": 6})
    assert any("digits-eternal is no task" in each for each in check_submission(path).reasons)


def test_another_file_is_refused_by_its_path(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match="path must be of a file that `gpbandits submission pack` wrote"):
        check_submission(tmp_path / "x.parquet")
    pq.write_table(pa.table({"a": np.zeros(2)}), tmp_path / "y.parquet")
    with pytest.raises(ValueError, match="submission pack"):
        check_submission(tmp_path / "y.parquet")


@pytest.mark.long
@pytest.mark.parametrize(
    "specified",
    [
        *({"horizon": {}}, {"horizon": ["digits-limit"]}, {"horizon": dict.fromkeys(TASKS, "6")}),
        *({"trials": 0}, {"trials": -3}, {"trials": "3"}, {"seed": -1}, {"options": [1]}, {"agent": 3}),
    ],
)
def test_a_specification_without_trials_or_of_other_types_is_refused(path, specified):
    change(path, **specified)
    with pytest.raises(ValueError, match="submission pack"):
        check_submission(path)
    change(path, empty, **specified)  # what has no rows must not be accepted either
    with pytest.raises(ValueError, match="submission pack"):
        check_submission(path)


def empty(held):
    """Leave no rows."""
    for name in held:
        held[name] = held[name][:0]


@pytest.mark.long
def test_text_for_numbers_is_refused(path):
    change(path, lambda held: held.update(action=held["action"].astype(str)))
    with pytest.raises(ValueError, match="submission pack"):
        check_submission(path)


@pytest.mark.long
def test_a_number_that_is_not_finite_is_refused_wherever_it_stands(path):
    def unknown(held):
        held["regret"][-1] = np.nan

    change(path, unknown)
    verdict = check_submission(path, 1)
    assert verdict == ([], ["digits-repeat: every regret and violation must be finite"])


def test_trials_that_are_longer_than_the_task_are_refused(tmp_path):
    result = evaluate(
        "GPBandit-Real/digits-repeat-v2", ["random"], trials=1, env_kwargs={"horizon": 201}, seed=4
    )
    write_submission({"digits-repeat": result}, "random", {}, tmp_path / "x.parquet")
    (reason,) = check_submission(tmp_path / "x.parquet").reasons
    assert reason == "digits-repeat: a trial has at most 200 rounds, the file has 201"


def test_results_that_are_no_whole_evaluation_are_refused(tmp_path):
    part = evaluate(
        "GPBandit-Real/digits-repeat-v2", ["random"], trials=1, env_kwargs={"horizon": 3}, first_trial=1
    )
    with pytest.raises(ValueError, match="from trial 0 on that records all rounds"):
        write_submission({"digits-repeat": part}, "random", {}, tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="task must be"):
        write_submission({"digits": part}, "random", {}, tmp_path / "x.parquet")


@pytest.mark.long
def test_the_command_prints_its_verdict_and_its_exit_code_says_it(path):
    runner = CliRunner()
    good = runner.invoke(app, ["submission", "check", str(path), "--replays", "1"])
    assert (good.exit_code, good.stdout.splitlines()[-1]) == (0, "accepted")
    change(path, agent="random")
    bad = runner.invoke(app, ["submission", "check", str(path), "--replays", "6"])
    assert (bad.exit_code, bad.stdout.splitlines()[-1]) == (1, "refused")


@pytest.mark.long
def test_what_the_leaderboard_computed_is_packed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gpbandits.report.entrants.SELECTED", {"": ("gp-ucb",)})
    runner, played = CliRunner(), ["--trials", "6", "--horizon", "5", "--seed", "3"]
    ids = [part for task in TASKS for part in ("--env", f"GPBandit-Real/{task}-v2")]
    early = runner.invoke(app, ["submission", "pack", "gp-ei", "--out", "sent.parquet", *played])
    assert early.exit_code == 2
    assert "run gpbandits leaderboard --suite real --agent gp-ei" in " ".join(
        early.output.replace("│", "").split()
    )
    runner.invoke(
        app, ["leaderboard", "--suite", "real", *ids, "--agent", "gp-ei", *played, "--workers", "1"]
    )
    packed = runner.invoke(app, ["submission", "pack", "gp-ei", "--out", "sent.parquet", *played])
    assert packed.exit_code == 0, packed.output
    verdict = check_submission(tmp_path / "sent.parquet")
    assert verdict.reasons == []
    assert {task for task, _ in verdict.replayed} == {"digits-repeat"}  # gp-ei handles no constraint


@pytest.mark.long
def test_options_behind_an_agents_name_are_played_and_packed(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "gpbandits.report.entrants.tasks", lambda: {"digits-repeat": tasks()["digits-repeat"]}
    )
    spec, store = 'gp-ucb {"width": 9.0}', tmp_path / "store"
    played = ["--trials", "6", "--horizon", "20", "--store", str(store)]
    board = ["leaderboard", "--suite", "real", "--agent", spec, "--out", str(tmp_path), "--workers", "1"]
    CliRunner().invoke(app, [*board, *played])
    packed = CliRunner().invoke(
        app, ["submission", "pack", spec, "--out", str(tmp_path / "x.parquet"), *played]
    )
    assert packed.exit_code == 0, packed.output
    stored = json.loads(pq.read_table(tmp_path / "x.parquet").schema.metadata[_KEY])
    assert (stored["agent"], stored["options"]) == ("gp-ucb", {"width": 9.0})
    assert check_submission(tmp_path / "x.parquet", 2).reasons == []
    change(tmp_path / "x.parquet", options={})
    assert check_submission(tmp_path / "x.parquet", 6).reasons


@pytest.mark.parametrize("text", ["gp-ucb width=9", "gp-ucb 9", "gp-ucb [1]"])
def test_options_that_are_no_json_object_are_refused_with_an_example(text):
    with pytest.raises(ValueError, match="agent must be a name, or a name and options as JSON such as"):
        entrant_of(text)
