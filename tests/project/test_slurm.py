"""An array of a real Slurm shares a study, and a job that is requeued loses no cell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0  # seconds until the test gives up waiting
STUDY = """
[study]
name = "array"
trials = 16
block_size = 1

[[environments]]
id = "GPBandit-GP-v0"
kwargs = { horizon = 10, num_arms = 8 }

[[agents]]
name = "test_shards:Slow"
"""
JOB = """#!/bin/bash
#SBATCH --array=0-2 --requeue --open-mode=append --output={folder}/said-%a.txt
cd {folder}
export PAUSE=0.05 PYTHONPATH={path}
exec {python} -m gpbandits run study.toml --out results --shard auto --workers 1
"""


def answered(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout


@pytest.fixture
def slurm() -> None:
    if shutil.which("sbatch") is None:
        pytest.skip("needs Slurm, for instance of one node from Debian's slurmctld and slurmd")
    if subprocess.run(["sinfo"], capture_output=True, check=False, timeout=60).returncode:
        pytest.skip("no Slurm answers on this machine")


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.2)


@pytest.mark.long
@pytest.mark.usefixtures("slurm")
def test_an_array_of_slurm_computes_all_cells_and_a_requeued_job_ends_cleanly(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    path = os.pathsep.join(map(str, (ROOT, ROOT / "tests" / "gpbandits" / "experiments")))
    (tmp_path / "job.sh").write_text(JOB.format(folder=tmp_path, path=path, python=sys.executable))
    number = answered("sbatch", "--parsable", str(tmp_path / "job.sh")).strip()
    cells = tmp_path / "results" / "cells"
    try:
        wait_for(lambda: list(cells.glob("*.parquet")))
        running = answered("squeue", "-h", "-r", "-j", number, "-t", "R", "-o", "%F_%K").split()
        answered("scontrol", "requeue", running[0])
        wait_for(lambda: not answered("squeue", "-h", "-t", "PD,R,CG,S", "-o", "%F").split().count(number))
    finally:
        subprocess.run(["scancel", number], check=False)
    said = "".join(file.read_text() for file in tmp_path.glob("said-*.txt"))
    assert len(list(cells.glob("*.parquet"))) == 16
    assert list(cells.glob("*.failed.txt")) == []
    assert "cells are kept; run the command again to continue" in said
    assert "16 trials of 10 rounds" in said
    assert "Traceback" not in said
