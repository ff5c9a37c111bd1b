"""The small errors by which tests are judged can still be made."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "tools" / "mutants.py"


def test_the_text_that_each_mutant_replaces_is_there_once():
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
