"""The bench of late feedback: GP samples on 100 arms, SE kernel of length-scale 0.2, noise of deviation 0.1.

    python examples/papers/late_feedback_bench.py [trials] [horizon]

It prints the mean regret of batches that wait and of stages, the hard violation of what pending costs may
count as (30 % of the arms are feasible), the regret with sums only (400 rounds), and robust regret.
"""

from __future__ import annotations

import sys
from typing import Any

from bandit_envs.problems import build
from gpbandits import evaluate
from gpbandits.evaluation import robust_regret

BENCH: dict[str, Any] = {"num_arms": 100, "length_scale": 0.2, "noise_std": 0.1}
COSTS: dict[str, Any] = {"constraints": {"law": "gp", "quantile": 0.3}, "constraint_noise_std": 0.1}
BAND = 6.0**0.5
WAITING = {
    "GP-UCB, w = 2": ("gp-ucb", {"width": 2.0}),
    "BPE": ("bpe", {"band": BAND}),
    "BPE-Delay": ("bpe-delay", {"band": BAND}),
    "BPE-Delay, sub-exponential": ("bpe-delay", {"band": BAND, "wait": "sub-exponential"}),
    "SupKernelUCB, w = 2.45": ("sup-kernel-ucb", {"band": 2.45}),
    "SupKernelUCB, w = 5.4": ("sup-kernel-ucb", {"band": 5.4}),
}
KINDS: dict[str, dict[str, Any]] = {
    "delivered": {},
    "hallucinated": {"belief": "hallucinated", "cost_belief": "hallucinated"},
    "censored": {"belief": "censored", "belief_options": {"window": 30}, "cost_belief": "censored"},
}


def poisson(mean: float) -> dict[str, Any] | None:
    """Delays of a mean, none for 0."""
    return {"law": "poisson", "mean": mean} if mean else None


def last(title: str, curves: dict[str, Any]) -> None:
    """Print the means of the last round."""
    print(title + ": " + ", ".join(f"{label} {curve[:, -1].mean():.1f}" for label, curve in curves.items()))


def main(trials: int = 8, horizon: int = 1000) -> None:
    """Print all of them."""
    bench = {**BENCH, "horizon": horizon}
    for mean in (0, 20, 100):
        late = {**bench, "delay": poisson(mean)}
        last(
            f"regret, delay {mean}",
            evaluate("GPBandit-GP-v0", WAITING, trials=trials, env_kwargs=late).regret,
        )
    kept = {
        f"{name}, {kind}": (name, options) for name in ("config", "rpol") for kind, options in KINDS.items()
    }
    late = {**bench, **COSTS, "delay": poisson(15)}
    last("hard violation", evaluate("GPBandit-GP-v0", kept, trials=trials, env_kwargs=late).hard_violation)
    short = {**BENCH, "horizon": min(horizon, 400), "delay": poisson(5), "aggregated": True}
    last(
        "regret of sums",
        evaluate("GPBandit-GP-v0", ["gp-ucb-aggregated"], trials=trials, env_kwargs=short).regret,
    )
    problem = build("gp", {**BENCH, "horizon": min(horizon, 300)})
    field = {name: (name, {"width": 2.0}) for name in ("stable-opt", "gp-ucb")}
    robust = {name: robust_regret(problem, spec, 0.05, trials) for name, spec in field.items()}
    last("robust regret", robust)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
