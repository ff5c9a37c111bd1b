"""A study on a Slurm cluster: every worker is a job of one core, and this process is the scheduler.

    python on_slurm.py study.toml --out results/study --jobs 20
    python on_slurm.py --show

The second prints the job script and submits nothing. Needs dask-jobqueue and a folder that all nodes share.
"""

import argparse
import subprocess
import sys
from typing import Any

from dask_jobqueue import SLURMCluster

JOB: dict[str, Any] = {  # of one worker; a queue, an account and the like are added here
    "cores": 1,
    "processes": 1,  # with one thread, since agents may use global generators
    "memory": "4GB",
    "walltime": "04:00:00",
    "worker_extra_args": ["--lifetime", "225m", "--lifetime-stagger", "10m"],  # goes before it is killed
    "job_script_prologue": ["export OMP_NUM_THREADS=1"],
}


def command(study: str, out: str, scheduler: str) -> list[str]:
    """What plays a study on the workers of a scheduler; run again, it goes on where it was."""
    where = ["--out", out, "--backend", "dask", "--scheduler", scheduler]
    return [sys.executable, "-m", "gpbandits", "run", study, *where]


def main() -> None:
    """Show the job script, or play the study."""
    parser = argparse.ArgumentParser(description="A study on a Slurm cluster.")
    parser.add_argument("study", nargs="?")
    parser.add_argument("--out")
    parser.add_argument("--jobs", type=int, default=10)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if not given.show and not (given.study and given.out):
        parser.error("a study file and --out are needed, or --show")
    with SLURMCluster(**JOB) as cluster:
        if given.show:
            print(cluster.job_script())
            return
        cluster.scale(jobs=given.jobs)
        subprocess.run(command(given.study, given.out, cluster.scheduler_address), check=True)


if __name__ == "__main__":
    main()
