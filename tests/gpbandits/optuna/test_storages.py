"""A study that several processes share, of which one is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from itertools import combinations

import optuna
import pytest
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState
from storage_servers import SERVERS

from gpbandits.optuna import GPBanditSampler

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning"),  # heartbeats are
]
WORKER = """
import sys, time
import optuna
from gpbandits.optuna import GPBanditSampler

def loss(trial):
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_int("y", 0, 20)
    if "hang" in sys.argv and trial.number >= 3:
        print(trial.number, flush=True)
        time.sleep(600)
    time.sleep(0.05)
    return (x - 0.3) ** 2 + (y - 7) ** 2 / 100

storage = optuna.storages.RDBStorage(sys.argv[1], heartbeat_interval=1, grace_period=3)
study = optuna.load_study(study_name="shared", storage=storage, sampler=GPBanditSampler(seed=0))
study.optimize(loss, n_trials=int(sys.argv[2]))
"""


@pytest.fixture(params=SERVERS)
def opened(request: pytest.FixtureRequest) -> Iterator[Callable[[], RDBStorage]]:
    """Opens a connection to one and the same database, as another process would."""
    with SERVERS[request.param]() as url, ExitStack() as connections:

        def connect() -> RDBStorage:
            storage = RDBStorage(url, heartbeat_interval=1, grace_period=3)
            connections.callback(closed, storage)
            return storage

        yield connect


def closed(storage: RDBStorage) -> None:
    storage.remove_session()
    storage.engine.dispose()


def study_at(storage: RDBStorage, seed: int = 0) -> optuna.Study:
    sampler = GPBanditSampler(seed=seed)
    return optuna.create_study(study_name="shared", storage=storage, sampler=sampler, load_if_exists=True)


def worker(url: str, trials: int, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-c", WORKER, url, str(trials), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def killed_in_a_trial(process: subprocess.Popen[str]) -> int:
    """Kill a worker once it says that it runs a trial; the trial."""
    assert process.stdout is not None
    number = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    return number


def alike(one: FrozenTrial, other: FrozenTrial) -> bool:
    """Whether two trials ran at a time, and were asked for the same."""
    begun = one.datetime_start, other.datetime_start, one.datetime_complete, other.datetime_complete
    first, second, over, end = (each or datetime.max for each in begun)
    far = max(abs(one.params["x"] - other.params["x"]), abs(one.params["y"] - other.params["y"]) / 20)
    return first < end and second < over and far < 1e-6


def test_workers_share_a_study_and_one_that_is_killed_leaves_a_trial_that_failed(opened):
    storage = opened()
    study, address = study_at(storage), storage.engine.url.render_as_string(hide_password=False)
    victim, *others = worker(address, 50, "hang"), worker(address, 4), worker(address, 4)
    lost = killed_in_a_trial(victim)
    assert [each.wait(timeout=120) for each in others] == [0, 0]
    for each in others:
        each.communicate()
    while study.trials[lost].state == TrialState.RUNNING:  # until its heart has not beaten for long enough
        time.sleep(0.5)
        optuna.storages.fail_stale_trials(study)
    assert study.trials[lost].state == TrialState.FAIL
    assert sum(trial.state == TrialState.COMPLETE for trial in study.trials) >= 8
    asked = [trial for trial in study.trials if "gpbandits:asked" in trial.system_attrs]
    assert len(asked) >= 4
    assert [pair for pair in combinations(asked, 2) if alike(*pair)] == []


def test_whoever_asks_next_proposes_the_same(opened):
    for n in (4, 2):
        study_at(opened(), seed=4).optimize(parabola, n_trials=n)
    alone = optuna.create_study(sampler=GPBanditSampler(seed=4))
    alone.optimize(parabola, n_trials=6)
    assert [trial.params for trial in study_at(opened()).trials] == [trial.params for trial in alone.trials]


def parabola(trial: optuna.Trial) -> float:
    return (trial.suggest_float("x", 1e-3, 1, log=True) - 0.1) ** 2 + trial.suggest_categorical("k", [1, 2])
