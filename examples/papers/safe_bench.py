"""The bench of safe agents: GP samples with a cost that holds on 40 % of 100 arms, from a safe seed on.

    python examples/papers/safe_bench.py [trials] [horizon]

It prints, for bands of width 2 and 5.4, the runs with an unsafe play, regret a round against the best arm
that is connected with the seed, and violation. SE kernel of length-scale 0.2, noise of deviation 0.1 on both.
"""

from __future__ import annotations

import sys

import numpy as np

from bandit_envs import BanditVectorEnv
from bandit_envs.problems import build
from gpbandits import evaluate
from gpbandits.evaluation.loop import trial_seeds
from gpbandits.evaluation.safety import component

AGENTS = ("safe-ucb", "safeopt", "stageopt", "losbo", "ise")
WIDTHS = (2.0, 5.4)


def bench(horizon: int):
    """The problem."""
    keywords = {
        "horizon": horizon,
        "num_arms": 100,
        "length_scale": 0.2,
        "noise_std": 0.1,
        "constraints": {"law": "gp", "quantile": 0.4},
        "constraint_noise_std": 0.1,
        "safe_seed": True,
    }
    return build("gp", keywords)


def out_of_reach(problem, trials: int) -> float:
    """What the best feasible arm is better by than the best one connected with the seed, on average."""
    env = BanditVectorEnv(problem, trials, autoreset_mode="Disabled")
    env.reset(seed=[trial_seeds(0, i)[0] for i in range(trials)])
    gaps = []
    for trial in env.simulator.trials:
        reward, cost = trial.means[0]
        seed = np.zeros(len(cost), dtype=bool)
        seed[trial.setting.safe_seed] = True
        reached = component(cost[None], seed, problem.decisions.points, 1 / 99)
        gaps.append(reward[cost <= 0].max() - reward[reached].max())
    return float(np.mean(gaps))


def main(trials: int = 15, horizon: int = 200) -> None:
    """Print the table."""
    problem = bench(horizon)
    gap = out_of_reach(problem, trials)
    field = {f"{name}, w = {w}": (name, {"width": w, "cost_width": w}) for name in AGENTS for w in WIDTHS}
    result = evaluate(problem, field, trials=trials)
    print(f"{trials} trials of {horizon} rounds; {gap:.3f} of reward is out of reach on average")
    print(f"{'agent':20s} {'unsafe runs':>12s} {'regret/round':>13s} {'hard violation':>15s}")
    for label in result.agents:
        unsafe = int((result.unsafe_plays[label][:, -1] > 0).sum())
        regret = result.regret[label][:, -1].mean() / horizon - gap
        print(f"{label:20s} {unsafe:12d} {regret:13.3f} {result.hard_violation[label][:, -1].mean():15.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
