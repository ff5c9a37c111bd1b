"""Laws and kernels of a problem from its keyword arguments."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs import laws
from bandit_envs.basics import arguments
from bandit_envs.basics.arguments import ArgumentError, is_number, require, written_as
from bandit_envs.basics.options import parse
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import OnColumns, amplified, make_kernel
from bandit_envs.kernels.validity import require_no_white
from bandit_envs.laws import derived
from bandit_envs.laws.derived import Feasibility
from bandit_envs.laws.functions import FunctionLaw, Moments

# Of the random parts that a keyword describes: the law without it, the laws by name, and their type.
PARTS: dict[str, tuple[Any, Mapping[str, type], type | None]] = {
    "drift": (laws.drift.Still(), laws.drift.LAWS, None),
    "delay": (laws.delays.Immediate(), laws.delays.LAWS, laws.delays.Delay),
    "context": (laws.contexts.UniformContexts(), laws.contexts.LAWS, None),
    "changes": (laws.changes.Stationary(), laws.changes.LAWS, None),
    "corruption": (laws.corruption.Untouched(), laws.corruption.LAWS, None),
    "availability": (laws.availability.EveryArm(), laws.availability.LAWS, None),
    "budget": (laws.play_costs.Free(), laws.play_costs.LAWS, laws.play_costs.PlayCosts),
    "movement": (laws.movement.FreeMoves(), laws.movement.LAWS, None),
}
WAYS = ("changes", "change_points", "num_segments")
MOST = 1000  # costs
CONTEXT_KERNEL: dict[str, Any] = {"combine": "product", "kernel": "rbf", "length_scale": 0.5}


def part_of(name: str, spec: Any) -> Any:
    """Return the law of a random part from a name, a dict or a law; None is the law without the part."""
    neutral, known, kind = PARTS[name]
    return neutral if spec is None else parse(name, spec, known, kind)


def noise_law(spec: Any, std: float | None, argument: str = "noise") -> laws.noise.Noise:
    """Return the noise law of `argument` and of `argument`_std, its standard deviation."""
    if isinstance(spec, str):
        spec = {"law": spec}
    if isinstance(spec, Mapping) or spec is None:
        given = {"law": "gaussian", **(spec or {})}
        if std is not None and "std" in given and given["std"] != std:
            both = f'{argument}_std and {argument}["std"]'
            raise ArgumentError(both, f"must agree, got {std!r} and {given['std']!r}")
        spec = given if std is None else {**given, "std": std}
    elif std is not None:
        raise ArgumentError(f"{argument}_std", f"must not be given beside a noise law object, got {std!r}")
    with written_as({} if std is None else {f'{argument}["std"]': f"{argument}_std"}):
        return parse(argument, spec, laws.noise.LAWS, laws.noise.Noise)


def changes_of(law: Any, change_points: Any, num_segments: Any) -> laws.changes.Changes:
    """Return the law of changes from one of its three keywords, all of which may be None."""
    given = dict(zip(WAYS, (law, change_points, num_segments), strict=True))
    chosen = {way: value for way, value in given.items() if value is not None}
    if len(chosen) > 1:
        raise ValueError(f"give only one of {', '.join(WAYS)}, got {chosen}")
    if change_points is not None:
        with written_as({"rounds": "change_points"}):
            return laws.changes.AtRounds(change_points)
    return part_of("changes", law) if num_segments is None else laws.changes.Evenly(num_segments)


def play_costs_of(spec: Any) -> laws.play_costs.PlayCosts:
    """Return the law of the costs of plays, from a budget, a dict or None."""
    amount = isinstance(spec, Real) and not isinstance(spec, bool)
    return part_of("budget", {"law": "gp", "budget": spec} if amount else spec)


def constraints_of(spec: Any, count: int | None) -> tuple[tuple[FunctionLaw, ...], Feasibility]:
    """Return the laws of costs and of their shift; none if both keywords are None, or `count` is 0.

    `spec` is a law's name or dict, of `count` costs (default 1) that are shifted together; or a sequence of
    laws, one a cost, used unshifted.
    """
    valid = count is None or (arguments.is_integer(count) and 0 <= count <= MOST)
    require(valid, "num_constraints", f"None or an integer in 0..{MOST}", count)
    if count == 0 or (spec is None and count is None):
        return (), derived.AS_DRAWN
    if isinstance(spec, Sequence) and not isinstance(spec, str):
        require(all(isinstance(law, FunctionLaw) for law in spec), "constraints", "a dict or laws", spec)
        require(count in (None, len(spec)), "num_constraints", f"{len(spec)}, the number of laws", count)
        return tuple(spec), derived.AS_DRAWN
    law, feasibility = _drawn({"law": "gp"} if spec is None else spec)
    return (law,) * (1 if count is None else count), feasibility


def _drawn(spec: Any) -> tuple[FunctionLaw, Feasibility]:
    """Return the law of each cost, and the feasible share."""
    spec = {"law": spec} if isinstance(spec, str) else spec
    if not isinstance(spec, Mapping):
        return parse("constraints", spec, laws.functions.LAWS), derived.FeasibleShare()
    own = {"quantile": derived.FeasibleShare.quantile, "kernel": None, "length_scale": None}
    quantile, kernel, length_scale = (spec.get(key, default) for key, default in own.items())
    law = parse("constraints", {key: spec[key] for key in spec if key not in own}, laws.functions.LAWS)
    with written_as({name: f'constraints["{name}"]' for name in own}):
        if kernel is not None or length_scale is not None:
            kernel = "rbf" if kernel is None else kernel
            own_kernel = make_kernel(kernel, 0.2 if length_scale is None else length_scale)
            require_no_white('constraints["kernel"]', own_kernel, "constraint_noise_std={}")
            law = derived.UnderKernel(law, own_kernel)
        return law, derived.FeasibleShare(quantile)


def checked_variance(given: Any) -> float:
    """Return a factor of the kernel, 1 for None, or raise unless it is positive."""
    valid = given is None or (is_number(given) and given > 0)
    require(valid, "signal_variance", "None or positive", given)
    return 1.0 if given is None else given


def published_prior(
    law: FunctionLaw, kernel: Any, points: Floats, signal_variance: float | None, prior_mean: bool | float
) -> tuple[Kernel, Floats | float]:
    """Return kernel and mean of the published prior; functions drawn under a kernel use the problem's kernel.

    The signal variance is a factor of the kernel, None for the one that gives it the law's own variance; the
    prior mean is True for the law's own mean, False for 0, or a number.
    """
    factor = checked_variance(signal_variance)
    known = isinstance(prior_mean, bool) or is_number(prior_mean)
    require(known, "prior_mean", "True, False or a number", prior_mean)
    own = law.moments or Moments(0.0)
    if signal_variance is None and own.std is not None:
        factor = own.std**2 / (float(np.mean(kernel.diag(points))) or 1.0)
    mean = (own.mean if prior_mean else 0.0) if isinstance(prior_mean, bool) else prior_mean
    return amplified(kernel, factor), mean


def joint_kernel(
    over_arms: Kernel, context_kernel: Any, width: int, dim: int, seen: int | None = None
) -> Kernel:
    """Return the kernel over (context, arm) features (Krause & Ong 2011); the arms' kernel without contexts.

    A "product" is for similar functions in similar contexts; a "sum", of variances too, for a function of
    the context plus one of the arm.

    Args:
        over_arms: of `dim` features.
        context_kernel: {"combine": ..., "kernel": ..., "length_scale": ...}, each with a default, or None.
        width: number of features of a context.
        seen: the first of them that the kernel depends on; default, all.
    """
    given = {} if context_kernel is None else context_kernel
    require(isinstance(given, Mapping), "context_kernel", "None or a dict", given)
    unknown = [key for key in given if key not in CONTEXT_KERNEL]
    require(not unknown, "context_kernel", f"a dict of {', '.join(CONTEXT_KERNEL)}", unknown)
    spec = CONTEXT_KERNEL | dict(given)
    with written_as({name: f'context_kernel["{name}"]' for name in CONTEXT_KERNEL}):
        arguments.require_choice("combine", spec["combine"], ("product", "sum"))
        if not width:
            return over_arms
        over_contexts = make_kernel(spec["kernel"], spec["length_scale"])
    of_context = OnColumns(over_contexts, list(range(width if seen is None else seen)))
    of_arm = OnColumns(over_arms, list(range(width, width + dim)))
    return of_context * of_arm if spec["combine"] == "product" else of_context + of_arm
