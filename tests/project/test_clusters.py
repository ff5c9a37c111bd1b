"""What the page on clusters says works on one machine, and job scripts are what it says."""

import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from pages import loaded
from slow_runs import answers, until
from study_cases import TINY

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cluster.md"
NO_DASHBOARD = ["--dashboard-address", ":0"]  # whose port may be taken


def example(name):
    library = f"dask_{name.removeprefix('on_').replace('slurm', 'jobqueue')}"
    pytest.importorskip(library, reason=f"needs {library}")
    return loaded(f"examples/clusters/{name}.py")


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.toml").write_text(TINY)
    return tmp_path / "study.toml"


def test_a_slurm_job_is_one_worker_of_one_core_and_one_thread(monkeypatch, capsys):
    slurm = example("on_slurm")
    monkeypatch.setattr(sys, "argv", ["on_slurm.py", "--show"])
    slurm.main()
    script = capsys.readouterr().out
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    for line in ("-n 1", "--cpus-per-task=1", "--mem=4G", "-t 04:00:00"):
        assert f"#SBATCH {line}\n" in script
    assert "export OMP_NUM_THREADS=1" in script
    assert re.search(r"distributed.cli.dask_worker tcp://\S+ .*--nthreads 1 .*--lifetime 225m", script)
    assert "--nworkers" not in script


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the stand-in closes no pipe
def test_the_slurm_example_plays_a_study_where_its_jobs_are_processes(study, monkeypatch):
    slurm = example("on_slurm")
    from dask_jobqueue.local import LocalCluster

    monkeypatch.setattr(slurm, "SLURMCluster", LocalCluster)
    of_slurm = ("walltime", "job_script_prologue")  # the stand-in runs no shell
    monkeypatch.setattr(slurm, "JOB", {name: slurm.JOB[name] for name in slurm.JOB if name not in of_slurm})
    out = study.parent / "out"
    monkeypatch.setattr(sys, "argv", ["on_slurm.py", str(study), "--out", str(out), "--jobs", "1"])
    slurm.main()
    assert list(out.glob("results/*.parquet"))


def test_workers_and_job_of_kubernetes_share_a_folder_and_find_the_scheduler():
    kubernetes = example("on_kubernetes")
    spec = kubernetes.cluster("image", "claim", 3)
    job = kubernetes.job("study.toml", "results", "image", "claim")
    worker, runner = spec["spec"]["worker"]["spec"], job["spec"]["template"]["spec"]
    assert spec["spec"]["worker"]["replicas"] == 3
    assert worker["containers"][0]["args"][:4] == ["dask", "worker", "--nthreads", "1"]
    assert worker["volumes"] == runner["volumes"]
    mounts = [pod["containers"][0]["volumeMounts"] for pod in (worker, runner)]
    assert mounts[0] == mounts[1]
    assert f"tcp://{spec['metadata']['name']}-scheduler:8786" in runner["containers"][0]["command"]


@pytest.mark.long
def test_the_commands_of_the_page_play_a_study_on_one_machine(study):
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    by_hand = PAGE.read_text(encoding="utf-8").partition("## By hand")[2]
    lines = re.search(r"```bash\n(.*?)```", by_hand, re.DOTALL)[1]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    commands = [
        shlex.split(line.replace("HOST", "127.0.0.1").replace("8786", port)) for line in lines.splitlines()
    ]
    *serving, run = [[sys.executable, "-m", *command] for command in commands]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": study.parent}
    started = []
    try:
        for command in serving:
            started.append(subprocess.Popen([*command, *NO_DASHBOARD], **quiet))
            until(lambda: answers(int(port)), pause=0.1)
        subprocess.run(run, cwd=study.parent, check=True, env=os.environ, capture_output=True, timeout=300)
    finally:
        for process in started:
            process.terminate()
            process.wait()
    assert list(study.parent.glob("results/study/results/*.parquet"))
