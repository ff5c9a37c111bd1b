"""Python without threads and processes, as in a browser, imports and plays; what needs them says so."""

import subprocess
import sys
from pathlib import Path

import pytest

from agents.rl.bridge import Rendezvous
from gpbandits import Linear, Tuner, check_agent, evaluate

SMALL = {"num_arms": 10, "horizon": 8}
NEITHER = """
import subprocess, sys, threading
import gymnasium, joblib, matplotlib.pyplot, scipy.stats, sklearn.gaussian_process

def refused(*arguments, **keywords):
    raise RuntimeError("can't start a thread or process")

sys.platform = "emscripten"
threading.Thread.start = subprocess.Popen.__init__ = refused
"""
PLAYED = """
import agents, bandit_envs, gpbandits
from gpbandits import Linear, Tuner, check_agent, evaluate, watch

result = evaluate("GPBandit-GP-v0", ["gp-ucb", "random"], trials=2, env_kwargs={"num_arms": 10, "horizon": 8})
print(result.table())
watch("GPBandit-GP-v0", "gp-ucb", count=2, env_kwargs={"num_arms": 10, "horizon": 4})
tuner = Tuner({"x": Linear(0, 1)}, seed=0)
tuner.optimise(lambda x: x, 3)
check_agent("random")
"""


@pytest.mark.long
def test_tutorials_need_no_thread_and_no_process():
    command = [sys.executable, "-c", NEITHER + PLAYED]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    assert "gp-ucb" in done.stdout


@pytest.mark.long
def test_what_needs_workers_says_so_in_a_browser(monkeypatch):
    monkeypatch.setattr(sys, "platform", "emscripten")
    needy = [
        lambda: evaluate("GPBandit-GP-v0", ["random"], trials=2, env_kwargs=SMALL, workers=2),
        lambda: evaluate("GPBandit-GP-v0", ["random"], trials=2, env_kwargs=SMALL, isolate=True),
        lambda: Tuner({"x": Linear(0, 1)}).optimise(max, 2, workers=2),
        lambda: Tuner({"x": Linear(0, 1)}).optimise(max, 2, workers=2, backend="threads"),
        lambda: Rendezvous(lambda ask: None),
    ]
    for start in needy:
        with pytest.raises(RuntimeError, match="Python in a browser has none"):
            start()
    check_agent("random")
