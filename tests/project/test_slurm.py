"""The job script of the page on clusters shares a study on a real Slurm, and loses no cell to its signals."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from slurm_cluster import slurm

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cluster.md"
PATIENCE = 300.0  # seconds until the test gives up waiting
CELLS = 80  # of a second each: two jobs need 40 s, and Slurm looks at limits of time every 30 s
OVER = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"}  # states of jobs that are neither run nor run again
STUDY = f"""
[study]
name = "array"
trials = {CELLS}
block_size = 1

[[environments]]
id = "GPBandit-GP-v0"
kwargs = {{ horizon = 10, num_arms = 8 }}

[[agents]]
name = "test_shards:Slow"
"""


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A folder with the study, in which commands of Slurm and `gpbandits` can be called."""
    with slurm(tmp_path / "slurm") as variables:
        monkeypatch.setenv("SLURM_CONF", variables["SLURM_CONF"])
        command = tmp_path / "bin" / "gpbandits"
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -m gpbandits "$@"\n')
        command.chmod(0o755)
        monkeypatch.setenv("PATH", str(command.parent), prepend=os.pathsep)
        path = os.pathsep.join(map(str, (ROOT, ROOT / "tests" / "gpbandits" / "experiments")))
        monkeypatch.setenv("PYTHONPATH", path)
        monkeypatch.setenv("PAUSE", "0.1")
        (tmp_path / "study.toml").write_text(STUDY)
        yield tmp_path
        subprocess.run(["scancel", "--me"], check=False)


def answered(*command: str, cwd: Path | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE, cwd=cwd)
    return done.stdout.strip()


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.2)


@pytest.mark.long
def test_jobs_of_the_page_that_are_requeued_or_reach_their_limit_of_time_lose_no_cell(cluster):
    script = re.search(r"```bash\n(#!/bin/bash\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (cluster / "job.sh").write_text(script[1])
    # A minute is the shortest limit: `--signal=TERM@60` comes at the first look, which both jobs outlast.
    fewer = ["--array=1-2", "--time=1", "--output=said-%a.txt"]
    number = answered("sbatch", "--parsable", *fewer, "job.sh", cwd=cluster)
    cells = cluster / "results" / "study" / "cells"
    wait_for(lambda: list(cells.glob("*.parquet")))
    answered("scontrol", "requeue", f"{number}_1")
    listed = ("squeue", "--noheader", "--array", "--states=all", "--format=%T")
    wait_for(lambda: set(answered(*listed).split()) <= OVER)
    said = [(cluster / f"said-{i}.txt").read_text() for i in (1, 2)]
    assert "DUE TO JOB REQUEUE" in said[0]
    assert "cells are kept; run the command again to continue" in said[1]  # at its limit of time
    assert len(list(cells.glob("*.parquet"))) == CELLS
    assert list(cells.glob("*.failed.txt")) == []
    assert any(f"{CELLS} trials of 10 rounds" in text for text in said)  # the tables
    assert not any("Traceback" in text for text in said)
