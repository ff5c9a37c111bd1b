"""The dashboard of Optuna shows a study in which one of our agents proposes, in a browser."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import optuna
import pytest

from gpbandits.optuna import GPBanditSampler

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def constrained(trial: optuna.Trial) -> float:
    x, kind = trial.suggest_float("rate", 1e-3, 1, log=True), trial.suggest_categorical("kind", ["a", "b"])
    trial.set_constraint("cost", x - 0.5)
    return x + (kind == "b")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def answer(address: str) -> str:
    """What a server on this machine says, once it is there."""
    for _ in range(120):
        try:
            with urllib.request.urlopen(address, timeout=10) as page:
                return page.read().decode()
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"nothing answers at {address}")


@pytest.fixture
def dashboard(tmp_path: Path) -> Iterator[str]:
    """The address of a dashboard of a study with a few trials."""
    pytest.importorskip("optuna_dashboard")
    url, port = f"sqlite:///{tmp_path}/study.db", free_port()
    study = optuna.create_study(study_name="with-gpbandits", storage=url, sampler=GPBanditSampler(seed=0))
    study.optimize(constrained, n_trials=6)
    start = "from optuna_dashboard._cli import main; main()"
    options = ["--host", "127.0.0.1", "--port", str(port), "--server", "wsgiref"]
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", start, url, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium binary on this machine")
def test_a_browser_shows_the_study_and_its_best_trial(dashboard, tmp_path):
    assert '"with-gpbandits"' in answer(f"{dashboard}/api/studies")
    command = [
        str(CHROMIUM),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'p'}",
    ]
    page = f"{dashboard}/dashboard/studies/1"
    done = subprocess.run(
        [*command, "--virtual-time-budget=8000", "--dump-dom", page],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    for shown in ("with-gpbandits", "Best Trial", "rate"):
        assert shown in done.stdout, done.stderr[-2000:]
