"""Results that join, evaluations that resume, and what the others played where one agent fails."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from players import FirstArm
from synthetic import assert_same

from gpbandits import Result, Results, evaluate, trial_seeds

PLACE = {"num_arms": 20, "horizon": 15}
AGENTS = ["gp-ucb", "random"]
AGAIN = {"gp-ucb": ("gp-ucb", {"beta_scale": 0.1}), "random": "random"}  # other options under a label


def played(agents=AGENTS, trials=4, **keywords) -> Result:
    given = {"env_kwargs": PLACE, **keywords}
    return evaluate("GPBandit-GP-v0", agents, trials=trials, **given)


@pytest.mark.parametrize("checkpoints", [None, [5, 15]])
def test_more_trials_and_more_agents_join_to_what_one_call_gives(checkpoints):
    whole = played(trials=6, checkpoints=checkpoints)
    first, second = (
        played(trials=4, checkpoints=checkpoints),
        played(trials=2, first_trial=4, checkpoints=checkpoints),
    )
    assert_same(first.join(second), whole)
    assert_same(second.join(first), whole)
    one, other = (played([name], trials=6, checkpoints=checkpoints) for name in AGENTS)
    assert_same(one.join(other), whole)
    assert str(one.join(other).table(["regret"])) == str(whole.table(["regret"]))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (lambda: played(seed=1), "the same seed, got 0 and 1"),
        (lambda: played(first_trial=5), r"got trials 0 to 3 and trials 5 to 8; .*first_trial=4"),
        (lambda: played(["random"]), "the same agents or none in common, got random in both"),
        (lambda: played(["gp-ei"], trials=3), "got trials 0 to 3 and trials 0 to 2"),
        (lambda: played(["gp-ei"], label="other"), "the same environment, got 'GPBandit-GP-v0' and 'other'"),
        (lambda: played(["gp-ei"], checkpoints=[15]), "the same recorded rounds"),
        (lambda: played(["gp-ei"], env_kwargs={**PLACE, "length_scale": 0.3}), "the same fingerprint"),
        (lambda: played(AGAIN, first_trial=4), "the same agents and options"),
        (lambda: "a result", "more must be a result"),
    ],
)
def test_results_of_other_evaluations_do_not_join(more, message):
    with pytest.raises(ValueError, match=message):
        played().join(more())


class FailingError(Exception):
    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


class Failing(FirstArm):
    """Plays the first arm, and raises in the third trial."""

    def reset(self, seed):
        self.seed = seed

    def act(self, observation):
        if self.seed == trial_seeds(0, 2)[1]:
            raise FailingError(3, "no third trial")
        return 0


@pytest.mark.parametrize("keywords", [{}, {"workers": 2}, {"folder": "kept"}], ids=str)
def test_one_agents_error_is_raised_after_the_others_have_played_and_holds_their_result(keywords, tmp_path):
    keywords = {name: tmp_path / value if name == "folder" else value for name, value in keywords.items()}
    agents = {"failing": Failing, "gp-ucb": "gp-ucb", "random": "random"}
    expected = RuntimeError if "workers" in keywords else FailingError  # whose constructor takes two values
    with pytest.raises(expected, match="no third trial") as caught:
        played(agents, **keywords)
    assert_same(caught.value.result, played())  # pyright: ignore
    notes = "\n".join(caught.value.__notes__)
    assert "while agent 'failing' played" in notes
    assert "gp-ucb" in notes
    assert "regret" in notes


def test_an_error_of_all_agents_or_of_a_callback_is_raised_at_once():
    with pytest.raises(FailingError):
        played({"failing": Failing})
    heard = []

    def callback(round_):
        heard.append(round_.agent)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as caught:
        played(callback=callback)
    assert "while agent 'gp-ucb' played" in caught.value.__notes__
    assert heard == ["gp-ucb"]


def test_a_folder_keeps_blocks_and_gives_what_a_call_without_one_gives(tmp_path):
    whole = played(trials=23)
    assert_same(played(trials=12, folder=tmp_path), played(trials=12))
    files = set(tmp_path.iterdir())
    heard = []
    resumed = played(trials=23, folder=tmp_path, progress=lambda label, number: heard.append((label, number)))
    assert_same(resumed, whole)
    assert sum(number for _, number in heard) == 46
    assert {path for path in files if path.exists()} == files
    (damaged, *_) = files
    damaged.write_bytes(damaged.read_bytes()[:-50])
    assert_same(played(trials=23, folder=tmp_path), whole)
    count = len(list(tmp_path.iterdir()))
    assert_same(played(["gp-ei", *AGENTS], trials=23, folder=tmp_path).select(AGENTS), whole)
    assert len(list(tmp_path.iterdir())) == count + 3


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"entropy": 5},
        {"checkpoints": [15]},
        {"env_kwargs": {**PLACE, "noise_std": 0.2}},
        {"agents": {"gp-ucb": ("gp-ucb", {"beta_scale": 0.2}), "random": "random"}},
    ],
    ids=str,
)
def test_what_was_asked_otherwise_is_not_read(other, tmp_path):
    played(folder=tmp_path)
    before = set(tmp_path.iterdir())
    assert_same(played(folder=tmp_path, **other), played(**other))
    assert set(tmp_path.iterdir()) > before


def test_a_folder_takes_no_callback_and_isolated_agents_need_an_entropy(tmp_path):
    with pytest.raises(ValueError, match="folder must be left out with a callback"):
        played(folder=tmp_path, callback=print)
    with pytest.raises(ValueError, match="entropy must be given with isolate and a folder"):
        played(folder=tmp_path, isolate=True)


SCRIPT = """
import sys, time
from gpbandits import evaluate

class Slow:
    def __init__(self, setting, pause):
        self.pause = pause
    def reset(self, seed): pass
    def act(self, observation):
        time.sleep(self.pause)
        return 0
    def update(self, observation, action, reward, info): ...

width = 0.001
agents = {"slow": lambda setting: Slow(setting, width), "random": "random"}
place = {"num_arms": 20, "horizon": 15}
result = evaluate("GPBandit-GP-v0", agents, trials=40, env_kwargs=place, folder=sys.argv[1])
print(result.regret["slow"].sum(), result.num_trials)
"""


@pytest.mark.long
def test_a_killed_script_resumes_with_the_agents_that_it_defines_itself(tmp_path):
    script, folder = tmp_path / "mine.py", tmp_path / "kept"
    script.write_text(SCRIPT)
    call = [sys.executable, str(script), str(folder)]
    with subprocess.Popen(call, stdout=subprocess.PIPE) as running:
        while not (folder.is_dir() and len(list(folder.glob("*.parquet"))) >= 3):
            assert running.poll() is None
            time.sleep(0.02)
        os.kill(running.pid, signal.SIGKILL)
    kept = {path: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}
    assert len(kept) < 8
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept  # read, not played again
    assert len(list(folder.glob("*.parquet"))) == 8
    again = subprocess.run([*call[:2], str(tmp_path / "new")], capture_output=True, text=True, check=True)
    assert done.stdout == again.stdout
    script.write_text(SCRIPT.replace("width = 0.001", "width = 0.002"))
    subprocess.run(call, check=True)
    assert len(list(folder.glob("*.parquet"))) == 12  # another agent, by a value that its function uses


PLACES = {"a": ("GPBandit-GP-v0", PLACE), "b": ("GPBandit-RKHS-v0", PLACE)}


def test_several_environments_share_a_folder(tmp_path):
    first = evaluate(PLACES, AGENTS, trials=3, folder=tmp_path)
    before = set(tmp_path.iterdir())
    second = evaluate(PLACES, AGENTS, trials=3, folder=tmp_path)
    assert isinstance(second, Results)
    assert set(tmp_path.iterdir()) == before
    for label in PLACES:
        assert_same(first[label], second[label])


def test_results_of_several_environments_join_environment_by_environment():
    whole = evaluate(PLACES, AGENTS, trials=3)
    first, second = (
        evaluate({"a": PLACES["a"]}, AGENTS, trials=n, first_trial=k) for n, k in ((2, 0), (1, 2))
    )
    other = evaluate({"b": PLACES["b"]}, AGENTS, trials=3)
    found = first.join(second).join(other)
    assert list(found) == list(whole)
    for label in PLACES:
        assert_same(found[label], whole[label])


class Reading(Failing):
    """Plays the arm that a file names."""

    def __init__(self, setting, weights):
        self.arm = int(Path(weights).read_text())

    def act(self, observation):
        return self.arm


def test_a_file_that_an_option_names_is_read_anew_where_it_changed(tmp_path):
    weights, folder = tmp_path / "weights", tmp_path / "kept"
    for arm in (3, 5):
        weights.write_text(str(arm))
        found = played({"reading": (Reading, {"weights": str(weights)})}, folder=folder)
        assert (found.actions["reading"] == arm).all()


def test_logs_of_plays_join_where_both_have_them():
    first, second = (played(trials=2, first_trial=at, log=True) for at in (0, 2))
    whole = played(log=True)
    assert second.join(first).logs.keys() == whole.logs.keys() == set(AGENTS)
    assert [len(each) for each in second.join(first).logs.values()] == [4, 4]
    assert first.join(played(trials=2, first_trial=2)).logs == {}


def test_rules_for_stopping_resume_too(tmp_path):
    asked = {"stopping": ("knowledge-gradient", {"price": 0.01}), "folder": tmp_path}
    first = played(["gp-ucb"], **asked)
    before = set(tmp_path.iterdir())
    assert_same(played(["gp-ucb"], **asked), first)
    assert set(tmp_path.iterdir()) == before
    assert str(played(["gp-ucb"], **asked).stopping_table()) == str(first.stopping_table())
