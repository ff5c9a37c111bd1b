"""A study on Kubernetes: prints a Dask cluster and the job that plays the study on it, for `kubectl apply`.

    python on_kubernetes.py study.toml --out results/study --image IMAGE --claim CLAIM | kubectl apply -f -

Needs dask-kubernetes, its operator in the cluster, an image with gpbandits[cluster], the same for all, and a
volume claim that many nodes may write to, with the study file on it.
"""

import argparse
import json
from typing import Any

from dask_kubernetes.operator import make_cluster_spec

NAME, SHARED = "gpbandits", "/shared"
ONE_CORE = {"requests": {"cpu": "1", "memory": "4Gi"}, "limits": {"cpu": "1", "memory": "4Gi"}}
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
WORKER = ["dask", "worker", "--nthreads", "1"]  # since agents may use global generators


def cluster(image: str, claim: str, workers: int) -> dict[str, Any]:
    """The Dask cluster, whose workers see the shared folder."""
    spec = make_cluster_spec(
        NAME, image=image, n_workers=workers, resources=ONE_CORE, env=ONE_THREAD, worker_command=WORKER
    )
    _mount(spec["spec"]["worker"]["spec"], claim)
    return spec


def job(study: str, out: str, image: str, claim: str) -> dict[str, Any]:
    """The job that plays the study on the cluster; started again, it goes on where it was."""
    address = f"tcp://{NAME}-scheduler:8786"
    where = ["--out", out, "--backend", "dask", "--scheduler", address]
    container = {
        "name": "run",
        "image": image,
        "workingDir": SHARED,
        "command": ["gpbandits", "run", study, *where],
    }
    pod = {"restartPolicy": "OnFailure", "containers": [container]}
    _mount(pod, claim)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"{NAME}-run"},
        "spec": {"template": {"spec": pod}},
    }


def _mount(pod: dict[str, Any], claim: str) -> None:
    pod["volumes"] = [{"name": "shared", "persistentVolumeClaim": {"claimName": claim}}]
    for container in pod["containers"]:
        container["volumeMounts"] = [{"name": "shared", "mountPath": SHARED}]


def main() -> None:
    """Print both as one list."""
    parser = argparse.ArgumentParser(description="A study on Kubernetes.")
    parser.add_argument("study")
    for name in ("--out", "--image", "--claim"):
        parser.add_argument(name, required=True)
    parser.add_argument("--workers", type=int, default=10)
    given = parser.parse_args()
    items = [
        cluster(given.image, given.claim, given.workers),
        job(given.study, given.out, given.image, given.claim),
    ]
    print(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=2))


if __name__ == "__main__":
    main()
