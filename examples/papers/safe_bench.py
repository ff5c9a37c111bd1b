"""The bench of safe agents: GP samples with a cost that holds on 40 % of 100 arms, from a safe seed on.

    python examples/papers/safe_bench.py [trials] [horizon]

It prints, for bands of width 2 and 5.4, the runs with an unsafe play, regret a round against the best arm
that is connected with the seed, violation, and which share of the arms that are connected with the seed was
certified in the end. SE kernel of length-scale 0.2, noise of deviation 0.1 on both.
"""

from __future__ import annotations

import sys

import numpy as np

import agents
from bandit_envs import BanditVectorEnv
from bandit_envs.problems import build
from gpbandits import evaluate
from gpbandits.evaluation.loop import trial_seeds
from gpbandits.evaluation.safety import component, coverage

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


def seeds(trials: int) -> tuple[list[int], list[int]]:
    """Those of the environment and of the agents, as `evaluate` takes them."""
    of_env, of_agent = zip(*(trial_seeds(0, i) for i in range(trials)), strict=True)
    return list(of_env), list(of_agent)


def connected(problem, trial):
    """The feasible arms that are connected with the seed, (A,)."""
    cost = trial.means[0][1:]
    seed = np.zeros(cost.shape[1], dtype=bool)
    seed[trial.setting.safe_seed] = True
    return component(cost, seed, problem.decisions.points, 1 / 99)


def out_of_reach(problem, trials: int) -> float:
    """What the best feasible arm is better by than the best one connected with the seed, on average."""
    env = BanditVectorEnv(problem, trials, autoreset_mode="Disabled")
    env.reset(seed=seeds(trials)[0])
    gaps = []
    for trial in env.simulator.trials:
        reward, cost = trial.means[0]
        gaps.append(reward[cost <= 0].max() - reward[connected(problem, trial)].max())
    return float(np.mean(gaps))


def certified(problem, name: str, options, trials: int) -> float:
    """The share of what is connected with the seed that the agent takes for safe in the end, on average."""
    env = BanditVectorEnv(problem, trials, autoreset_mode="Disabled")
    of_env, of_agent = seeds(trials)
    observation, _ = env.reset(seed=of_env)
    agent = agents.make(name, env.setting, num_trials=trials, **options)
    agent.reset(of_agent)
    for _ in range(problem.horizon):
        action = agent.act(observation)
        following, reward, *_, info = env.step(action)
        agent.update(observation, action, reward, info)
        observation = following
    safe = agent.objective.safety(np.zeros(trials, dtype=np.int64), agent.t).safe
    pairs = zip(safe, env.simulator.trials, strict=True)
    return float(np.mean([coverage(mine, connected(problem, trial)) for mine, trial in pairs]))


def main(trials: int = 15, horizon: int = 200) -> None:
    """Print the table."""
    problem = bench(horizon)
    gap = out_of_reach(problem, trials)
    field = {f"{name}, w = {w}": (name, {"width": w, "cost_width": w}) for name in AGENTS for w in WIDTHS}
    result = evaluate(problem, field, trials=trials)
    print(f"{trials} trials of {horizon} rounds; {gap:.3f} of reward is out of reach on average")
    print(
        f"{'agent':20s} {'unsafe runs':>12s} {'regret/round':>13s} {'hard violation':>15s} {'certified':>10s}"
    )
    for label in result.agents:
        unsafe = int((result.unsafe_plays[label][:, -1] > 0).sum())
        regret = result.regret[label][:, -1].mean() / horizon - gap
        hard, share = result.hard_violation[label][:, -1].mean(), certified(problem, *field[label], trials)
        print(f"{label:20s} {unsafe:12d} {regret:13.3f} {hard:15.3f} {share:10.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
