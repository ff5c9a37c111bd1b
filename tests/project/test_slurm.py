"""The job script of the page on clusters shares a study on a real Slurm, and loses no cell to its signals."""

import contextlib
import getpass
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from slow_runs import until
from study_cases import tiny

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cluster.md"
PATIENCE = 300.0  # seconds until the test gives up waiting
CELLS = 80  # of a second each: two jobs need 40 s, and Slurm looks at limits of time every 30 s
OVER = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"}  # states of jobs that are neither run nor run again
DAEMONS = "slurmctld", "slurmd"
PROGRAMS = *DAEMONS, "sbatch", "scontrol", "squeue", "srun"
# Nothing signs messages: whoever runs the test owns both daemons and the jobs, and no other machine is asked.
CONFIGURATION = """
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=2
SelectType=select/linear
ReturnToService=2
KillWait=5
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
NodeName=node NodeHostname=localhost NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=node Default=YES State=UP OverSubscribe=FORCE:4
"""


@contextlib.contextmanager
def slurm(folder: Path) -> Iterator[dict[str, str]]:
    """The variables by which commands of Slurm find a node that takes jobs; skip without the programs."""
    places = os.environ["PATH"] + os.pathsep + "/usr/sbin"
    found = {name: shutil.which(name, path=places) for name in PROGRAMS}
    if missing := [name for name, place in found.items() if place is None]:
        pytest.skip(f"no {', '.join(missing)} here: apt-get install slurmctld slurmd")
    try:
        socket.getaddrinfo(None, 1, socket.AF_INET, socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except socket.gaierror:
        pytest.skip("Slurm does not start where 127.0.0.1 is the only address")
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    written = CONFIGURATION.format(folder=folder, user=getpass.getuser(), ports=free_ports(2))
    (folder / "slurm.conf").write_text(written)
    variables = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
    started = []
    try:
        for name in DAEMONS:
            node = ["-N", "node"] if name == "slurmd" else []
            with (folder / f"{name}.log").open("w") as log:
                command = [str(found[name]), "-D", *node]
                started.append(subprocess.Popen(command, env=variables, stdout=log, stderr=log))
        listed = {"env": variables, "capture_output": True, "text": True, "check": False}
        state = partial(subprocess.run, ["sinfo", "--noheader", "--format=%t"], **listed)
        until(lambda: state().stdout.strip() == "idle", pause=0.2)  # else see the daemons' logs there
        yield variables
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(10.0)
            except subprocess.TimeoutExpired:  # slurmd may wait for the end of jobs long over
                process.kill()
                process.wait()


def free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


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
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT, ROOT / "tests"))))
        monkeypatch.setenv("PAUSE", "0.1")
        (tmp_path / "study.toml").write_text(tiny("players:Slow", trials=CELLS, horizon=10))
        yield tmp_path
        subprocess.run(["scancel", "--me"], check=False)


def answered(*command: str, cwd: Path | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE, cwd=cwd)
    return done.stdout.strip()


@pytest.mark.long
def test_jobs_of_the_page_that_are_requeued_or_reach_their_limit_of_time_lose_no_cell(cluster):
    script = re.search(r"```bash\n(#!/bin/bash\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (cluster / "job.sh").write_text(script[1])
    # A minute is the shortest limit: `--signal=TERM@60` comes at the first look, which both jobs outlast.
    fewer = ["--array=1-2", "--time=1", "--output=said-%a.txt"]
    number = answered("sbatch", "--parsable", *fewer, "job.sh", cwd=cluster)
    cells = cluster / "results" / "study" / "cells"
    until(lambda: list(cells.glob("*.parquet")), seconds=PATIENCE, pause=0.2)
    answered("scontrol", "requeue", f"{number}_1")
    listed = ("squeue", "--noheader", "--array", "--states=all", "--format=%T")
    until(lambda: set(answered(*listed).split()) <= OVER, seconds=PATIENCE, pause=0.2)
    said = [(cluster / f"said-{i}.txt").read_text() for i in (1, 2)]
    assert "DUE TO JOB REQUEUE" in said[0]
    assert "cells are kept; run the command again to continue" in said[1]  # at its limit of time
    assert len(list(cells.glob("*.parquet"))) == CELLS
    assert list(cells.glob("*.failed.txt")) == []
    assert any(f"{CELLS} trials of 10 rounds" in text for text in said)  # the tables
    assert not any("Traceback" in text for text in said)
