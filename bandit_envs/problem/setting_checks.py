"""Check the fields of a setting: each check raises unless the values are possible."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import (
    LARGEST_STD,
    ArgumentError,
    is_integer,
    is_number,
    require,
    require_switch,
)
from bandit_envs.basics.immutable import fixed, is_fixed
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.movement import Movement
from bandit_envs.laws.outcomes import OutcomeLaw
from bandit_envs.laws.play_costs import PlayCosts
from bandit_envs.problem.decisions import Decisions

COUNTS = ("max_delay", "num_constraints")
SCALES = ("noise_bound", "rkhs_bound", "constraint_noise_bound", "misspecification", "corruption")
STDS = ("noise_std", "constraint_noise_std", "constraint_prior_std")
PER_COST = ("constraint_prior_std", "constraint_noise_std", "constraint_noise_bound")
ROUNDING = 1e-9  # relative: costs are exponentials of logarithms
SWITCHES = ("may_change", "volatile", "aggregated", "duel")


def checked_facts(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Check a setting's fields, before or after its arms are checked; return those of its costs as arrays."""
    for name in COUNTS:
        require(is_integer(fields[name]) and fields[name] >= 0, name, "0 or a positive integer", fields[name])
    check_scales(**{name: fields[name] for name in SCALES})
    check_stds(**{name: fields[name] for name in STDS})
    for name in ("budget", "cost_min"):
        positive = is_number(fields[name]) and fields[name] > 0
        require(fields[name] is None or positive, name, "None or positive", fields[name])
    costs, kernel, least = fields["known_costs"], fields["kernel"], fields["reward_lower_bound"]
    check_known_costs(costs, fields["arms"] is None, fields["cost_min"])
    law = fields["play_costs"]
    known = "None or a law of bandit_envs.laws.play_costs, such as GPCosts(50.0)"
    require(law is None or isinstance(law, PlayCosts), "play_costs", known, law)
    moves = fields["movement"]
    known = "None or a law of bandit_envs.laws.movement, such as Switching(0.1)"
    require(moves is None or isinstance(moves, Movement), "movement", known, moves)
    usable = callable(getattr(kernel, "diag", None)) and not isinstance(kernel, type)
    require(kernel is None or usable, "kernel", "None or a scikit-learn kernel", kernel)
    check_outcome(fields)
    check_switches(fields)
    require(least is None or _are_numbers(least), "reward_lower_bound", "None or a number", least)
    seed, slopes, count = fields["safe_seed"], fields["lipschitz"], fields["num_constraints"]
    return {
        **{name: checked_per_cost(name, fields[name], count) for name in PER_COST},
        "known_costs": costs if costs is None or fields["arms"] is None else settled(costs),
        "safe_seed": None if seed is None else checked_seed(seed, fields["arms"], count),
        "lipschitz": None if slopes is None else checked_slopes("lipschitz", slopes, count),
    }


def check_outcome(fields: Mapping[str, Any]) -> None:
    """Raise unless a law of outcomes has a latent kernel; the bound on the norm is None or positive."""
    law, kernel, bound = (fields[name] for name in ("outcome", "latent_kernel", "latent_bound"))
    known = law is None or isinstance(law, OutcomeLaw)
    require(known, "outcome", "None or a law of bandit_envs.laws.outcomes, such as BernoulliOutcomes()", law)
    usable = callable(getattr(kernel, "diag", None)) and not isinstance(kernel, type)
    fits = usable if law is not None else kernel is None or usable
    require(fits, "latent_kernel", "a scikit-learn kernel, None without an outcome", kernel)
    require(bound is None or (is_number(bound) and bound > 0), "latent_bound", "None or positive", bound)


def check_switches(fields: Mapping[str, Any]) -> None:
    """Raise unless each is True or False, and arms are volatile only on a finite set."""
    for name in SWITCHES:
        require_switch(name, fields[name])
    for name, lacks in {"volatile": "arms", "duel": "finite set of pairs"}.items():
        fits = not (fields[name] and fields["arms"] is None)
        require(fits, name, f"False on a box, which has no {lacks}", fields[name])


def check_scales(**scales: Any) -> None:
    """Raise unless each is None, or finite and not negative; one number or one a trial."""
    for name, value in scales.items():
        usable = value is None or (_are_numbers(value) and bool((np.asarray(value) >= 0).all()))
        require(usable, name, "None, 0 or positive", value)


def check_stds(**stds: Any) -> None:
    """Raise unless each is a scale whose square is finite."""
    check_scales(**stds)
    for name, value in stds.items():
        small = value is None or bool((np.asarray(value) <= LARGEST_STD).all())
        require(small, name, f"at most {LARGEST_STD:g}", value)


def check_known_costs(costs: Any, continuous: bool, least: float | None) -> None:
    """Raise unless costs are None, functions on a box, or positive and not below `least`; (N,) or (B, N)."""
    if costs is None:
        return
    if continuous:
        each = costs if isinstance(costs, tuple) else (costs,)
        require(all(map(callable, each)), "known_costs", "None or a function on a box", costs)
        return
    given = np.asarray(costs)
    positive = given.ndim in (1, 2) and given.dtype.kind in "iuf" and given.size and bool((given > 0).all())
    require(positive and np.isfinite(given).all(), "known_costs", "None or positive numbers", costs)
    low = given.min()
    fits = least is None or least <= low * (1.0 + ROUNDING)
    require(fits, "cost_min", f"at most {low:g}, the least of known_costs", least)


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
    wanted = f"the start of each of the {horizon} rounds of the horizon"
    complaint = f"must be {wanted}, got {len(given)}; give {horizon} times or horizon={len(given)}"
    if len(given) != horizon:
        raise ArgumentError("query_times", complaint)
    return given


def check_prior_mean(mean: Floats | float, decisions: Decisions) -> None:
    """Raise unless the mean is one finite number, or one a point."""
    size = decisions.num_contexts * decisions.num_arms
    given = np.asarray(mean)
    require(given.shape in ((), (size,)), "prior_mean", f"a number or ({size},) values", given.shape)
    require(given.dtype.kind in "iuf" and np.isfinite(given).all(), "prior_mean", "finite numbers", mean)


def checked_profile(profile: Any, decisions: Decisions) -> Floats:
    """Return relative noise stds, one a point of a finite set, or raise."""
    size = decisions.num_contexts * decisions.num_arms
    shape = (size,) if not decisions.continuous else None
    require(np.shape(profile) == shape, "noise_profile", f"{shape} shares, None on a box", np.shape(profile))
    given = np.array(profile)
    usable = given.dtype.kind in "iuf" and bool(((given > 0) & (given <= 1)).all())
    require(usable, "noise_profile", "shares of noise_std in (0, 1]", profile)
    return fixed(given.astype(np.float64))


def checked_seed(seed: Any, arms: Any, num_constraints: int) -> Ints:
    """Return indices of safe arms, (n,) or one row a trial, or raise."""
    known = arms is not None and num_constraints > 0
    require(known, "safe_seed", "None without constraints and on a box", seed)
    return checked_arms("safe_seed", seed, len(arms))  # type: ignore[arg-type]


def checked_arms(name: str, arms: Any, num_arms: int) -> Ints:
    """Return indices of arms, (n,) or one row a trial, or raise."""
    given = np.array(arms)
    usable = given.ndim in (1, 2) and given.size > 0 and given.dtype.kind in "iu"
    usable = usable and bool(((given >= 0) & (given < num_arms)).all())
    require(usable, name, f"arms in 0..{num_arms - 1}, at least one", arms)
    return fixed(given.astype(np.int64))


def checked_slopes(name: str, slopes: Any, num_constraints: int) -> Floats:
    """Return a slope of each cost, (C,) or one row a trial, or raise."""
    given = np.array(slopes)
    usable = given.ndim in (1, 2) and given.shape[-1] == num_constraints and given.dtype.kind in "iuf"
    usable = usable and bool((np.isfinite(given) & (given >= 0)).all())
    require(usable, name, f"{num_constraints} finite numbers, 0 or positive, one a cost", slopes)
    return fixed(given.astype(np.float64))


def checked_per_cost(name: str, value: Any, num_constraints: int) -> Any:
    """Return a number of all costs or one of each, (C,), or raise; a prior std is positive."""
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


def _are_numbers(value: Any) -> bool:
    values = np.asarray(value)
    counted = values.dtype.kind in "iuf" and values.ndim < 2 and values.size > 0
    return counted and bool(np.isfinite(values).all())
