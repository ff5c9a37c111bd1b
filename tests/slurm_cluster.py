"""A Slurm of one node that a test starts, with two ports of this machine and a folder of its own."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

DAEMONS = "slurmctld", "slurmd"
PROGRAMS = *DAEMONS, "sbatch", "scontrol", "squeue", "srun"
PATIENCE = 60.0  # seconds until the test gives up waiting for the node
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
        wait_for_node(folder, variables)
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
    """Ports that nobody listens at now."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def wait_for_node(folder: Path, variables: dict[str, str]) -> None:
    """Until the node is idle; an error has what the daemons said."""
    end = time.monotonic() + PATIENCE
    command = ["sinfo", "--noheader", "--format=%t"]
    while (
        subprocess.run(command, env=variables, capture_output=True, text=True, check=False).stdout.strip()
        != "idle"
    ):
        logs = {name: (folder / f"{name}.log").read_text()[-2000:] for name in DAEMONS}
        assert time.monotonic() < end, f"the node takes no jobs: {logs}"
        time.sleep(0.2)
