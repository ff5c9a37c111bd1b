"""Workers end soon after a process that is killed, whatever they compute."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from slow_runs import is_alive, until

ROOT = Path(__file__).parents[2]
SECONDS = 10.0  # within which they must be gone; they look twice a second
TASK = """
import os, sys, time
from pathlib import Path

FOLDER = Path(sys.argv[1])

def works():
    (FOLDER / str(os.getpid())).touch()
    time.sleep(120)
"""
CALLS = {
    "optimise": """
from gpbandits import Tuner

def f(x):
    works()

if __name__ == "__main__":
    Tuner({"x": (0.0, 1.0)}, agent="random").optimise(f, 4, workers=2)
""",
    "evaluate": """
from gpbandits import evaluate

class Slow:
    def __init__(self, setting):
        works()

if __name__ == "__main__":
    evaluate("GPBandit-GP-v0", {"slow": Slow}, trials=4, workers=2, env_kwargs={"horizon": 5})
""",
}


@pytest.mark.long
@pytest.mark.skipif(
    sys.platform == "win32", reason="processes of Windows do not know that their parent ended"
)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_workers_of_a_killed_process_end_in_seconds(call, tmp_path):
    script, folder = tmp_path / "run.py", tmp_path / "workers"
    folder.mkdir()
    script.write_text(TASK + call)
    run = subprocess.Popen(
        [sys.executable, str(script), str(folder)], env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    try:
        until(lambda: len(list(folder.iterdir())) == 2)
        workers = [int(each.name) for each in folder.iterdir()]
        assert all(map(is_alive, workers))
        run.send_signal(signal.SIGKILL)
        run.wait()
        until(lambda: not any(map(is_alive, workers)), seconds=SECONDS)
    finally:
        run.kill()
        for each in folder.iterdir():
            if is_alive(int(each.name)):
                os.kill(int(each.name), signal.SIGKILL)
