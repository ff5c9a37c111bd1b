"""Define problems whose functions change: Avanesov's, and one with every feature at once."""

from __future__ import annotations

from typing import Any

from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import with_defaults
from bandit_envs.problems.synthetic import synthetic


def piecewise_stationary(**keywords: Any) -> Problem:
    """Track GP samples on 1000 points of [0, 5] that change three times in 1200 rounds (Avanesov 2020).

    Matern 5/2 kernel of length-scale 1, noise std 0.05; segment i = 1..4 ends after round(i T / 4)
    rounds, and each has a function of its own, f ~ GP(0, k). Action: `Discrete(num_arms)`. Observation: a
    constant 0; changes are not announced. Reward: f(arm) + noise. Info: see docs/environments.md;
    "segment" in `oracle` counts the changes so far. Regret: max f - f(arm) of the segment's function,
    noiseless, which is dynamic regret. The paper's other experiments are `num_segments=3` with horizons 900
    to 2400, and `num_segments` 3 to 9 with horizon 2700.

    Args:
        **keywords: see `synthetic`. `num_segments=K`, `change_points=[300, 900]` or `changes={...}` sets
            the change-points.

    Example:
        >>> env = gym.make("GPBandit-PiecewiseStationary-v0", num_segments=3, horizon=900)
    """
    defaults = {"kernel": "matern52", "length_scale": 1.0, "side": 5.0, "num_segments": 4}
    return synthetic(
        **with_defaults(keywords, name="piecewise-stationary", horizon=1200, noise_std=0.05, **defaults)
    )


def composite(**keywords: Any) -> Problem:
    """Maximise GP samples with delays, constraints, contexts and change-points, each of which can be off.

    100 arms of [0, 1] in 5 contexts; three segments of 200 rounds with functions of their own; one cost that
    30 % of the arms satisfy in the tightest context; feedback is about 5 rounds late. SE kernels on contexts
    and arms, multiplied. `delay=None`, `context=None`, `changes=None` and `constraints=None` each switch a
    feature off, so that any of the 16 subsets takes one call. Action: `Discrete(num_arms)`. Observation: the
    context in [0, 1], without contexts a constant 0. With `continuous=True` the arms are all of [0, 1], and
    a reset takes seconds to find the optimum of every segment and context. Reward: the delivered sum.
    Info: see docs/environments.md. Regret: to the best feasible arm in the round's segment and context,
    noiseless, charged at play time, negative while violating. The setting is ours.

    Args:
        **keywords: see `synthetic`.

    Example:
        >>> env = gym.make("GPBandit-Composite-v0", delay=None, num_constraints=2)
    """
    defaults = {
        "num_arms": 100,
        "horizon": 600,
        "noise_std": 0.1,
        "delay": {"law": "poisson", "mean": 5},
        "num_contexts": 1 if _is_off("context", keywords) else 5,
        "num_segments": 3,
        "constraints": {"law": "gp", "quantile": 0.3},
    }
    return synthetic(**with_defaults(keywords, name="composite", **defaults))


def _is_off(feature: str, keywords: dict[str, Any]) -> bool:
    return keywords.get(feature, "on") is None
