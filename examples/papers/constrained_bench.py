"""The bench of constrained agents: GP samples with a cost that holds on 30 % of 100 arms, by hard violation.

    python examples/papers/constrained_bench.py [trials] [horizon]

It prints the mean hard violation of every agent at T/8, T/4, T/2 and T, and soft violation, R^+ and R at T.
SE kernel of length-scale 0.2, noise of deviation 0.1 on reward and cost, w = 3.
"""

from __future__ import annotations

import sys

import numpy as np

from gpbandits import evaluate

AGENTS = {
    "config": "config",
    "rpol": "rpol",
    "epbo, rho = 10": "epbo",
    "epbo, rho = 1": ("epbo", {"rho": 1.0}),
    "pdcbo, step 1": "pdcbo",
    "ckb-ucb": "ckb",
    "ckb-random": ("ckb", {"rule": "random"}),
    "ckb-ts": ("ckb", {"rule": "ts"}),
    "gp-agent, dual": ("gp-agent", {"constraint": "dual"}),
    "unconstrained": ("gp-ucb", {"width": 3.0}),
}


def bench(trials: int, horizon: int):
    """The comparison on the bench."""
    keywords = {
        "horizon": horizon,
        "num_arms": 100,
        "length_scale": 0.2,
        "noise": {"law": "gaussian", "std": 0.1},
        "constraints": {"law": "gp", "quantile": 0.3},
        "constraint_noise_std": 0.1,
    }
    return evaluate("GPBandit-GP-v0", AGENTS, trials=trials, env_kwargs=keywords)


def main(trials: int = 8, horizon: int = 1000) -> None:
    """Print the table."""
    result = bench(trials, horizon)
    at = [horizon * share // 8 - 1 for share in (1, 2, 4, 8)]
    print(f"{'agent':16s} {'hard violation at ' + str([t + 1 for t in at]):34s} soft V      R+       R")
    for label in result.agents:
        hard, soft = (curves[label].mean(axis=0) for curves in (result.hard_violation, result.violation))
        regret = result.regret[label]
        gains = np.maximum(np.diff(regret, axis=1, prepend=0.0), 0.0).sum(axis=1).mean()
        cells = " ".join(f"{hard[t]:8.1f}" for t in at)
        print(f"{label:16s} {cells} {soft[-1]:8.1f} {gains:8.1f} {regret[:, -1].mean():8.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
