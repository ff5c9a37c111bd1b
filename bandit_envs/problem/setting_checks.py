"""Check the fields of a setting, and return what they imply: each check raises unless they are possible."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import LARGEST_STD, ArgumentError, Option, is_number, require, require_size
from bandit_envs.basics.options import KINDS, parse, whole
from bandit_envs.basics.types import Floats, Ints, fixed, is_fixed
from bandit_envs.kernels.validity import require_same_noise, split_white
from bandit_envs.laws.delays import LAWS, Delay
from bandit_envs.laws.movement import Movement
from bandit_envs.laws.outcomes import OutcomeLaw
from bandit_envs.laws.play_costs import PlayCosts
from bandit_envs.problem.decisions import Decisions


def _are_numbers(value: Any) -> bool:
    values = np.asarray(value)
    counted = values.dtype.kind in "iuf" and values.ndim < 2 and values.size > 0
    return counted and bool(np.isfinite(values).all())


def _is_kernel(value: Any) -> bool:
    return callable(getattr(value, "diag", None)) and not isinstance(value, type)


def _law_of(kind: type, module: str, such: str) -> Option:
    known = f"None or a law of bandit_envs.laws.{module}, such as {such}"
    return Option(known, lambda value: isinstance(value, kind))


COUNT = whole(0)
SWITCH = KINDS[bool]
POSITIVE = Option("None or positive", lambda value: is_number(value) and value > 0)
SCALE = Option("None, 0 or positive", lambda value: _are_numbers(value) and (np.asarray(value) >= 0).all())
STD = Option(f"at most {LARGEST_STD:g}", lambda value: (np.asarray(value) <= LARGEST_STD).all())
SCALES = ("noise_bound", "rkhs_bound", "constraint_noise_bound", "misspecification", "corruption")
PER_COST = ("constraint_prior_std", "constraint_noise_std", "constraint_noise_bound")
NEEDED = COUNT, SWITCH  # None is no value of these
LATENT_KERNEL = Option("a scikit-learn kernel, None without an outcome", _is_kernel)
FACTS: dict[str, tuple[Option, ...]] = {
    **dict.fromkeys(("max_delay", "num_constraints"), (COUNT,)),
    **dict.fromkeys(SCALES, (SCALE,)),
    **dict.fromkeys(("noise_std", "constraint_noise_std", "constraint_prior_std"), (SCALE, STD)),
    **dict.fromkeys(("budget", "cost_min", "latent_bound"), (POSITIVE,)),
    "play_costs": (_law_of(PlayCosts, "play_costs", "GPCosts(50.0)"),),
    "movement": (_law_of(Movement, "movement", "Switching(0.1)"),),
    "outcome": (_law_of(OutcomeLaw, "outcomes", "BernoulliOutcomes()"),),
    "kernel": (Option("None or a scikit-learn kernel", _is_kernel),),
    "latent_kernel": (LATENT_KERNEL,),
    "reward_lower_bound": (Option("None or a number", _are_numbers),),
    **dict.fromkeys(("may_change", "volatile", "aggregated", "duel"), (SWITCH,)),
}
ROUNDING = 1e-9  # relative: costs are exponentials of logarithms


def checked_facts(fields: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Check these fields of a setting, and others that depend on them; return those of costs as arrays."""
    for name in filter(names.__contains__, FACTS):
        for kind in FACTS[name]:
            if fields[name] is not None or kind in NEEDED:
                kind.require(name, fields[name])
    needed = fields["outcome"] is None or fields["latent_kernel"] is not None
    require(needed, "latent_kernel", LATENT_KERNEL.expected, None)
    for name, lacks in {"volatile": "arms", "duel": "finite set of pairs"}.items():
        fits = not (fields[name] and fields["arms"] is None)
        require(fits, name, f"False on a box, which has no {lacks}", fields[name])
    count = fields["num_constraints"]
    checked = {name: checked_per_cost(name, fields[name], count) for name in PER_COST}
    if (costs := fields["known_costs"]) is not None:
        checked["known_costs"] = checked_known_costs(costs, fields["arms"], fields["cost_min"])
    if (seed := fields["safe_seed"]) is not None:
        num_arms = 0 if fields["arms"] is None else len(fields["arms"])
        require(num_arms and count, "safe_seed", "None without constraints and on a box", seed)
        checked["safe_seed"] = checked_arms("safe_seed", seed, num_arms)
    if fields["lipschitz"] is not None:
        checked["lipschitz"] = checked_slopes("lipschitz", fields["lipschitz"], count)
    return checked


def implied_by_delay(horizon: Any, delay: Any, max_delay: Any, query_times: Any) -> dict[str, Any]:
    """Return the law, and the largest delay and start times that it implies where none are given."""
    require_size("horizon", horizon)
    own = delay is None or isinstance(delay, Delay)
    law = delay if own else parse("delay", delay, LAWS)
    given = None if query_times is None else checked_times(query_times, horizon)
    own_times = None if law is None else law.query_times(horizon)
    if law is not None and own_times is None and given is not None:
        raise ValueError(f"delay must be in units of time, as query_times are, got {law!r}")
    if given is None and own_times is not None:
        own_times = checked_times(own_times, horizon)
    implied: dict[str, Any] = {"delay": law, "query_times": own_times if given is None else given}
    if max_delay is None:
        implied["max_delay"] = 0 if law is None else law.window(horizon, given)
    return implied


def implied_by_kernel(kernel: Any, noise_std: Any) -> dict[str, Any]:
    """Return kernel and noise std if the kernel has a WhiteKernel, whose variance is the noise's."""
    rest, white = split_white(kernel)
    if not white:
        return {}
    require_same_noise("noise_std", noise_std, float(np.sqrt(white)))
    return {"kernel": rest, "noise_std": float(np.sqrt(white))}


def check_stds(**stds: Any) -> None:
    """Raise unless each is None, or a scale whose square is finite."""
    for name, value in stds.items():
        if value is not None:
            SCALE.require(name, value)
            STD.require(name, value)


def checked_known_costs(costs: Any, arms: Any, least: float | None) -> Any:
    """Return functions on a box, or positive numbers not below `least`, (N,) or (B, N), or raise."""
    if arms is None:
        each = costs if isinstance(costs, tuple) else (costs,)
        require(all(map(callable, each)), "known_costs", "None or a function on a box", costs)
        return costs
    given = np.asarray(costs)
    positive = given.ndim in (1, 2) and given.dtype.kind in "iuf" and given.size and bool((given > 0).all())
    require(positive and np.isfinite(given).all(), "known_costs", "None or positive numbers", costs)
    low = given.min()
    fits = least is None or least <= low * (1.0 + ROUNDING)
    require(fits, "cost_min", f"at most {low:g}, the least of known_costs", least)
    return settled(costs)


def check_size(costs: Any, decisions: Decisions) -> None:
    """Raise unless known costs are None, or one a point of a finite set."""
    if costs is None:
        return
    size, given = len(decisions.points), np.shape(costs)
    require(given[-1] == size, "known_costs", f"{size} numbers, one a (context, arm) pair", given)


def checked_times(times: Any, horizon: int) -> Floats:
    """Return the ascending start times of rounds, (T,), or raise."""
    given = settled(times) if np.ndim(times) == 1 and _are_numbers(times) else None
    usable = given is not None and bool((np.diff(given) >= 0).all())
    require(usable, "query_times", "None or ascending numbers, one a round", times)
    assert given is not None
    if len(given) != horizon:
        wanted = f"the start of each of the {horizon} rounds of the horizon"
        complaint = f"must be {wanted}, got {len(given)}; give {horizon} times or horizon={len(given)}"
        raise ArgumentError("query_times", complaint)
    return given


def check_prior_mean(mean: Floats | float, decisions: Decisions) -> None:
    """Raise unless the mean is one finite number, or one a point."""
    size, given = decisions.num_contexts * decisions.num_arms, np.asarray(mean)
    require(given.shape in ((), (size,)), "prior_mean", f"a number or ({size},) values", given.shape)
    require(given.dtype.kind in "iuf" and np.isfinite(given).all(), "prior_mean", "finite numbers", mean)


def checked_profile(profile: Any, decisions: Decisions) -> Floats:
    """Return relative noise stds, one a point of a finite set, or raise."""
    shape = None if decisions.continuous else (decisions.num_contexts * decisions.num_arms,)
    require(np.shape(profile) == shape, "noise_profile", f"{shape} shares, None on a box", np.shape(profile))
    given = np.array(profile)
    usable = given.dtype.kind in "iuf" and bool(((given > 0) & (given <= 1)).all())
    require(usable, "noise_profile", "shares of noise_std in (0, 1]", profile)
    return fixed(given.astype(np.float64))


def checked_arms(name: str, arms: Any, num_arms: int) -> Ints:
    """Return indices of arms, (n,) or one row a trial, or raise."""
    given = np.array(arms)
    listed = given.ndim in (1, 2) and given.size > 0 and given.dtype.kind in "iu"
    usable = listed and bool(((given >= 0) & (given < num_arms)).all())
    require(usable, name, f"arms in 0..{num_arms - 1}, at least one", arms)
    return fixed(given.astype(np.int64))


def checked_slopes(name: str, slopes: Any, num_constraints: int) -> Floats:
    """Return a slope of each cost, (C,) or one row a trial, or raise."""
    given = np.array(slopes)
    listed = given.ndim in (1, 2) and given.shape[-1] == num_constraints and given.dtype.kind in "iuf"
    usable = listed and bool((np.isfinite(given) & (given >= 0)).all())
    require(usable, name, f"{num_constraints} finite numbers, 0 or positive, one a cost", slopes)
    return fixed(given.astype(np.float64))


def checked_per_cost(name: str, value: Any, num_constraints: int) -> Any:
    """Return a number of all costs or one of each, (C,), or raise; a prior std is positive."""
    if np.ndim(value) == 0 and name != "constraint_prior_std":
        return value
    if value is None:
        return None
    fits = np.shape(value) in ((), (num_constraints,))
    require(fits, name, f"a number or {num_constraints} of them, one a cost", value)
    positive = name != "constraint_prior_std" or bool((np.asarray(value) > 0).all())
    require(positive, name, "None or positive; it divides costs", value)
    return fixed(np.array(value, dtype=np.float64)) if np.ndim(value) else value


def settled(values: Any) -> Floats:
    """Return numbers that nobody can write to: a copy, unless they are such already."""
    kept = is_fixed(values) and values.dtype == np.float64
    return values if kept else fixed(np.array(values, dtype=np.float64))
