"""Whether a problem can be composed of what it was given, found out before anything is drawn from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.arguments import is_count, is_integer, is_number, require
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.validity import require_valid
from bandit_envs.kernels.white import require_no_white
from bandit_envs.laws.drift import Drift
from bandit_envs.laws.functions import FunctionLaw
from bandit_envs.laws.noise import Noise
from bandit_envs.problem.composition import Composition
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.setting import check_prior_mean

TRIED = 250  # points of a box on which a kernel that is not known is looked at


def check_problem(problem: Composition) -> None:
    """Raise a ValueError that names the argument, what it must be and what it was."""
    _check_parts(problem)
    _check_numbers(problem)
    _check_box(problem)
    _check_drift(problem)
    check_kernel(problem.kernel, problem.decisions)
    require_no_white("kernel", problem.kernel, "noise=Gaussian({})")
    check_prior_mean(problem.prior_mean, problem.decisions)


def check_seed(seed: Any) -> None:
    """Raise unless it seeds functions, or leaves them to the trial's own seed."""
    valid = seed is None or (is_integer(seed) and seed >= 0)
    require(valid, "function_seed", "None or an integer >= 0", seed)


def check_kernel(kernel: Any, decisions: Decisions) -> None:
    """Raise unless it is a kernel of these (context, arm) features, and a covariance on them."""
    require(isinstance(kernel, Kernel), "kernel", "a scikit-learn kernel object", kernel)
    point = decisions.with_context(0, decisions.arms[:1])
    try:
        kernel(point)
    except ValueError as error:  # one length-scale a feature, but of other features
        message = f"kernel must take points of {point.shape[1]} features, got {kernel!r}: {error}"
        raise ValueError(message) from error
    require_valid(kernel, _spread(decisions) if decisions.continuous else decisions.points)


def _spread(decisions: Decisions) -> Floats:
    """Points all over a box and its contexts, (TRIED, dz + d)."""
    assert decisions.low is not None
    assert decisions.high is not None
    assert decisions.contexts is not None
    rng = np.random.default_rng(0)
    arms = rng.uniform(decisions.low, decisions.high, (TRIED, len(decisions.low)))
    return np.hstack([decisions.contexts[rng.integers(decisions.num_contexts, size=TRIED)], arms])


def _check_parts(problem: Composition) -> None:
    require(isinstance(problem.decisions, Decisions), "decisions", "a Decisions", problem.decisions)
    functions = {"reward": problem.reward}
    functions |= {f"constraints[{i}]": law for i, law in enumerate(problem.constraints)}
    for name, law in functions.items():
        require(isinstance(law, FunctionLaw), name, "a law such as KnownFunction(f)", law)
    for name in ("noise", "constraint_noise"):
        law = getattr(problem, name)
        require(isinstance(law, Noise), name, "a law such as Gaussian(0.1)", law)


def _check_numbers(problem: Composition) -> None:
    require(is_count(problem.horizon), "horizon", "a positive integer", problem.horizon)
    bound = problem.rkhs_bound
    known = bound in (None, "true", "paper") or (is_number(bound) and float(bound) > 0)
    require(known, "rkhs_bound", '"true", "paper", None or a positive number', bound)
    window = problem.max_delay
    valid = window is None or (is_integer(window) and 0 <= window < problem.horizon)
    require(valid, "max_delay", "None or an integer in 0..horizon - 1", window)
    check_seed(problem.function_seed)
    share = problem.constraint_noise.share  # would differ by cost and trial; a setting publishes one number
    require(share is None, "constraint_noise", 'without "share"; give "std"', share)
    publish = problem.publish_model
    require(isinstance(publish, bool), "publish_model", "True or False", publish)


def _check_box(problem: Composition) -> None:
    known = all(law.has_box_form for law in (problem.reward, *problem.constraints))
    if problem.decisions.continuous and not known:
        raise ValueError(
            "continuous must be False: this reward or a cost is only known at its points; got True"
        )


def _check_drift(problem: Composition) -> None:
    drift = problem.drift
    require(isinstance(drift, Drift), "drift", "a law such as OrnsteinUhlenbeck(0.01)", drift)
    still = not problem.drifts or not problem.decisions.continuous
    require(still, "continuous", "False: drifting functions are only known at their points", True)
    drift.check(problem.reward, problem.horizon)
    for law in problem.constraints:
        drift.of_costs.check(law, problem.horizon)
