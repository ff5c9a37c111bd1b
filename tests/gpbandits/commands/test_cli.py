"""The command line: what it prints, writes and returns."""

import os
import subprocess
import sys

import gymnasium as gym
import pytest
from agent_cases import BATCHED, SETTING, of_each_shape
from study_cases import TINY, called, study_cases

import agents
from agents.registry import names
from bandit_envs.environment.registration import IDS
from bandit_envs.problems import keywords_of
from gpbandits import catalogue, cli
from gpbandits.evaluation.result import Result
from gpbandits.experiments import check_study, load_study
from gpbandits.reproductions import REPRODUCTIONS


@pytest.fixture
def call(capsys, tmp_path):
    def run(*arguments, study=None):
        if study is not None:
            (tmp_path / "study.toml").write_text(study)
            arguments = ("run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out"), *arguments)
        return called(capsys, *arguments)

    return run


undrawn = pytest.mark.usefixtures("without_figures")


def test_envs_lists_every_registered_id(call):
    code, out, _ = call("envs")
    assert code == 0
    ids = [env_id for env_id in gym.registry if env_id.startswith("GPBandit-") and "/" not in env_id]
    assert ids
    assert all(env_id in out for env_id in ids)


def test_agents_lists_every_registered_name(call):
    code, out, _ = call("agents")
    assert code == 0
    assert names()
    assert all(name in out for name in names())


def test_agents_that_handle_features_are_listed_and_no_others(call):
    _, out, _ = call("agents", "--handles", "delay", "--handles", "constraint")
    shown = {name for name in names() if f" {name} " in out}
    able = {name for name in names() if agents.features(name).delay and agents.features(name).constraint}
    assert shown == able != set()
    code, _, err = call("agents", "--handles", "delays")
    assert code == 2
    assert "unknown feature 'delays' (did you mean 'delay'?); it is one of delay, context" in err


@pytest.mark.parametrize(
    ("command", "name", "words"),
    [
        (
            "envs",
            "GPBandit-Delayed-v0",
            ["Verma et al. 2022", "length_scale 0.02", "horizon 500", "mean=10)"],
        ),
        ("agents", "gp-ucb", ["Srinivas et al. 2010", "beta_scale", "0.1", "privileged"]),
    ],
)
def test_one_environment_or_agent_is_shown_with_its_keywords(call, command, name, words):
    _, shown, _ = call(command, name)
    assert [word for word in words if word not in " ".join(shown.split())] == []  # lines break anywhere


@pytest.mark.parametrize(("command", "name"), [("envs", "GPBandit-PG-v0"), ("agents", "gp-ubc")])
def test_an_unknown_name_ends_in_one_line_with_the_nearest(call, command, name):
    code, out, err = call(command, name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "did you mean" in err


def test_a_leaderboard_that_could_not_be_written_is_not_computed(call, tmp_path):
    (tmp_path / "file").touch()
    code, _, err = call(
        "leaderboard", "--out", str(tmp_path / "file" / "docs"), "--store", str(tmp_path / "s")
    )
    assert (code, err.count("\n")) == (2, 1)
    assert str(tmp_path / "file") in err
    assert not (tmp_path / "s").exists()


@pytest.mark.long
def test_every_agent_has_an_entry():
    for name in names():
        entry = catalogue.agent(name)
        assert len(entry.text) > 40, name
        titles = [title for title, _, _ in entry.tables]
        assert titles[:2] == ["Features", "Keywords"], name
        assert all(title.startswith("**options, ") for title in titles[2:]), name


def is_known(name, option):
    try:
        agents.make(name, SETTING, **{option: "nonsense"})
    except ValueError as error:
        return "unknown option" not in str(error)
    except TypeError:  # twice, for the algorithm decides it
        return False
    return True


@pytest.mark.parametrize("name", of_each_shape(BATCHED))
def test_what_options_are_said_to_take_is_taken(name):
    entry = catalogue.agent(name)
    rows = [row for _, _, found in entry.tables[1:] for row in found]
    options = [keyword for keyword, _ in rows if not keyword.startswith("**")]
    assert len(options) == len(set(options))
    assert [option for option in options if not is_known(name, option)] == []


GYMNASIUMS = ["Action Space", "Observation Space", "Rewards", "Starting State", "Episode End"]


@pytest.mark.parametrize("env_id", IDS)
def test_every_environment_has_an_entry_with_the_keywords_that_it_takes(env_id):
    entry = catalogue.environment(env_id)
    assert [row[0] for row in entry.tables[-1][2]] == keywords_of(IDS[env_id])
    assert [row[0] for row in entry.tables[-1][2] if not row[2]] == []  # a line on each
    paragraphs = [paragraph.partition(":")[0] for paragraph in entry.text.split("\n\n")]
    assert [heading for heading in paragraphs if heading in GYMNASIUMS] == GYMNASIUMS


COMPLETED = {"envs GPBandit-": set(IDS), "agents ": set(names()), "reproduce ": {"all", *REPRODUCTIONS}}


@pytest.mark.long
@pytest.mark.parametrize(("words", "known"), COMPLETED.items(), ids=COMPLETED)
def test_a_shell_completes_commands_and_names(words, known):
    asked = {"_GPBANDITS_COMPLETE": "complete_bash", "COMP_WORDS": f"gpbandits {words}", "COMP_CWORD": "2"}
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.argv = ['gpbandits']; from gpbandits.cli import main; main()",
        ],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert set(done.stdout.split()) == known


@pytest.mark.long
def test_run_shows_who_did_better_and_keeps_everything(call, tmp_path):
    code, out, err = call("--workers", "1", study=TINY)
    assert (code, err) == (0, "")
    assert "GP: l = 0.2" in out
    assert "4 trials of 5 rounds" in out
    written = {
        str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()
    }
    assert len([name for name in written if name.startswith("cells/") and name.endswith(".parquet")]) == 8
    assert {name for name in written if not name.startswith("cells/")} == {
        "plan.json",
        "study.toml",
        "timings.csv",
        "results/GP-l-0.2.parquet",
        "figures/GP-l-0.2-regret-linear.png",
        "figures/GP-l-0.2-regret-log-log.png",
        "figures/GP-l-0.2-simple_regret.png",
    }
    result = Result.load(tmp_path / "out" / "results" / "GP-l-0.2.parquet")
    assert result.agents == ["random", "gp-ucb"]
    assert result.regret["gp-ucb"].shape == (4, 5)


@pytest.mark.long
@undrawn
def test_a_finished_run_is_run_again_from_the_study_that_it_kept(call, tmp_path, monkeypatch):
    call("--workers", "1", study=TINY)
    monkeypatch.setattr("gpbandits.experiments.work.compute", None)  # nothing is computed
    kept = tmp_path / "out" / "study.toml"
    code, out, err = call("run", str(kept), "--out", str(tmp_path / "out"), "--workers", "1")
    assert (code, err) == (0, "")
    assert "4 trials of 5 rounds" in out
    assert kept.read_text() == TINY


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("trials", "trails", "unknown key 'trails'"),
        ("GPBandit-GP-v0", "GPBandit-PG-v0", "environment 'GP: l = 0.2' cannot be made"),
        ("horizon = 5", "horizon = 5, oracle = false", "oracle must be on: a study scores by it"),
        ("GPBandit-GP-v0", "CartPole-v1", "environment 'GP: l = 0.2' cannot be made"),
        ("horizon = 5", "horizon = 0", "horizon"),
        ("horizon = 5", "horizons = 5", "horizons"),
        ('"gp-ucb"', '"gp-ubc"', "unknown agent 'gp-ubc'"),
        ('"gp-ucb"', '"gp-ucb"\noptions = {delta = 2}', "delta"),
        ('"gp-ucb"', '"gp-ucb"\noptions = {dleta = 0.1}', "dleta"),
        ('"gp-ucb"', '"no.such:Agent"', "no.such"),
        ('"gp-ucb"', '"gp-ucb"\noptions = {num_trials = 2}', "num_trials"),
        ('"gp-ucb"', '"gp-ucb"\noptions = {delta = "0.1"}', "delta must be a number, got '0.1'"),
        ("[study]", f"deep = {'[' * 100_000}", "cannot read the study"),
    ],
)
def test_bad_studies_end_in_one_line_and_code_2_before_anything_is_computed(
    call, tmp_path, old, new, message
):
    code, out, err = call(study=TINY.replace(old, new))
    assert code == 2
    assert out == "" or out.startswith("Importing no.such, which ")
    assert message in err
    assert err.startswith("gpbandits: ")
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_without_its_packages_the_script_names_the_extra(call, monkeypatch):
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "typer" else object())
    code, out, err = call("envs")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "typer not found" in err
    assert "pip install 'gpbandits[eval]'" in err


@pytest.mark.long
@undrawn
def test_an_agent_in_the_folder_in_which_one_is_takes_part(call, tmp_path, monkeypatch):
    agent = "def cautious(setting, delta):\n    return gp_ucb(setting, delta=delta)\n"
    (tmp_path / "beside_the_study.py").write_text(f"from agents import gp_ucb\n\n{agent}")
    monkeypatch.chdir(tmp_path)
    paths = list(sys.path)
    own = '[[agents]]\nname = "beside_the_study:cautious"\nlabel = "own"\noptions = { delta = 0.1 }\n'
    code, out, err = call(study=TINY + own)
    assert code == 0, err
    means = {
        line.split()[0]: line.split()[1] for line in out.splitlines() if line.startswith(("own", "gp-ucb"))
    }
    assert means["own"] == means["gp-ucb"]
    assert sys.path == paths


@pytest.mark.long
@pytest.mark.parametrize("path", study_cases("*.toml"))
def test_the_studies_of_the_examples_can_be_made(path):
    check_study(load_study(path))


def test_a_class_that_declares_nothing_is_not_said_to_handle_nothing(call):
    code, shown, _ = call("agents", "players:FirstArm")
    assert code == 0
    assert shown.count("not declared, assumed") == len(agents.Features._fields)
