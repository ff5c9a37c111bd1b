"""Losses of `gp-agent` and of the composed agent that it was before, where a model is published.

    python benchmarks/published_models.py --write

Both play the ids whose kernel is published and which `gp-agent` plays by learnt models, on the same trials;
p is that of all sign flips of the differences of losses relative to random play, and the last column counts
the trials of `gp-agent` with a loss of .9 or more.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported: one thread

import argparse
import contextlib

from tables import write

from agents.real.choice import publishes, suited
from bandit_envs import make
from bandit_envs.environment.registration import IDS
from bandit_envs.problem.setting import Setting
from gpbandits import evaluate
from gpbandits.evaluation.statistics import sign_flip_test
from gpbandits.report.entrants import REAL, REFERENCE, ROUNDS
from gpbandits.report.standings import relative_losses

HEADER = ["environment", "trials", "gp-agent", "composed", "difference", "standard error", "p", "stuck"]
STUCK = 0.9  # a loss hardly less than that of random play


def published() -> dict[str, Setting]:
    """Return the settings of the ids that are compared; those whose data are not here are left out."""
    found = {}
    for name in IDS:
        with contextlib.suppress(OSError, ImportError):
            env = make(name)
            env.reset(seed=0)
            setting = env.get_wrapper_attr("setting")
            if name != REAL and publishes(setting, {}) and suited(setting, {}) is not None:
                found[name] = setting
    return found


def row(name: str, horizon: int, trials: int) -> list[str]:
    """Return a row of the table."""
    agents = {"gp-agent": "gp-agent", "composed": ("gp-agent", {"rule": "ucb"}), REFERENCE: REFERENCE}
    result = evaluate(name, agents, trials=trials, env_kwargs={"horizon": min(horizon, ROUNDS)})
    losses = relative_losses(result, REFERENCE)
    gaps = losses["gp-agent"] - losses["composed"]
    error = gaps.std(ddof=1) / trials**0.5
    p = sign_flip_test(losses["gp-agent"], losses["composed"], flips=2**trials)
    stuck = int((losses["gp-agent"] >= STUCK).sum())
    means = [f"{losses[label].mean():.3f}" for label in ("gp-agent", "composed")]
    return [name, str(trials), *means, f"{gaps.mean():+.3f}", f"{error:.3f}", f"{p:.2g}", str(stuck)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found = []
    for name, setting in published().items():
        found.append(row(name, setting.horizon, given.trials))
        print(", ".join(found[-1]), flush=True)
    if given.write:
        write("published_models", HEADER, found)


if __name__ == "__main__":
    main()
