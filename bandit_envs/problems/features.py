"""Turn the keyword arguments that every problem takes into laws, in one place."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import Any

from bandit_envs.basics.arguments import ArgumentError, require_switch, written_as
from bandit_envs.laws import availability as _availability
from bandit_envs.laws import contexts, delays, functions, noise, play_costs
from bandit_envs.laws import corruption as _corruption
from bandit_envs.laws import drift as _drift
from bandit_envs.laws.by_name import parse
from bandit_envs.laws.derived import Misspecified, Normalized
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.changes import WAYS, changes_of
from bandit_envs.problems.constraints import constraints_of
from bandit_envs.problems.priors import published_prior


def compose(
    decisions: Decisions,
    reward: functions.FunctionLaw,
    kernel: Any,
    *,
    name: str,
    signal_variance: float | None = None,
    prior_mean: bool | float = True,
    horizon: int = 1000,
    noise_std: float | None = None,
    noise: str | Mapping[str, Any] | None = None,
    normalize: bool = False,
    delay: str | Mapping[str, Any] | None = None,
    max_delay: int | None = None,
    aggregated: bool = False,
    context: str | Mapping[str, Any] | None = None,
    changes: str | Mapping[str, Any] | None = None,
    change_points: Sequence[int] | None = None,
    num_segments: int | None = None,
    drift: str | Mapping[str, Any] | None = None,
    misspecification: float | None = None,
    corruption: str | Mapping[str, Any] | None = None,
    availability: str | Mapping[str, Any] | None = None,
    budget: float | Mapping[str, Any] | None = None,
    constraints: str | Mapping[str, Any] | Sequence[functions.FunctionLaw] | None = None,
    num_constraints: int | None = None,
    constraint_noise: str | Mapping[str, Any] | None = None,
    constraint_noise_std: float | None = None,
    rkhs_bound: str | float | None = "true",
    publish_model: bool = True,
    function_seed: int | None = None,
    safe_seed: bool | str = False,
) -> Problem:
    """Compose a problem from its decision set, its reward and the features that all problems share.

    Args:
        decisions, reward, kernel, name: chosen by the problem's factory.
        signal_variance: factor of the kernel, and so of the variance of functions that are drawn from it.
            Default: 1 for these, else the factor that gives the published prior the variance of the values; 1
            publishes the kernel as it is.
        prior_mean: publish the known mean of the values as the model's (0 for functions that are drawn from
            the kernel); False publishes 0, a number itself.
        horizon: rounds a trial.
        noise_std: standard deviation of the reward noise.
        noise: {"law": "gaussian" | "uniform" | "student-t" | "pareto" | "by-arm" | "none", "std": ...,
            "share": ...}, see `bandit_envs.laws.noise`; `share` is the noise variance as a share of the
            function's range, which suits functions of std 1. `noise_std` is its "std".
        normalize: rescale each function to minimum 0 and maximum 1; the published prior follows.
        delay: {"law": "immediate" | "constant" | "cyclic" | "poisson" | "geometric" | "uniform" |
            "heavy-tailed" | "exponential" | "log-normal" | "by-arm" | "by-reward", ...}, each with "lost",
            the probability that feedback is never delivered; see `bandit_envs.laws.delays`.
        max_delay: delay beyond which feedback is never delivered.
        aggregated: `info` has the sum of delivered feedback, without its rounds, in one slot of step -1; for
            agents with the feature `aggregated`.
        context: {"law": "uniform" | "blocks" | "recorded" | "walk", ...}, the sequence of contexts.
        changes: {"law": "stationary" | "at" | "evenly" | "geometric" | "recurring", ...}: change-points, at
            which all functions change to independent ones or, where they recur, back to earlier ones; see
            `bandit_envs.laws.changes`. None is never.
        change_points: instead, the first rounds of new functions (round 0 is the first).
        num_segments: instead, the number of segments of equal length.
        drift: {"law": "ornstein-uhlenbeck", "epsilon": 0.01, "costs": True}: law by which functions drawn
            from a GP change from round to round within a segment; see `bandit_envs.laws.drift`. "segment" in
            `oracle` counts change-points alone.
        misspecification: eps: m with |m| = eps at every point, of random sign, is added to the function, so
            that it leaves the kernel's space; the published norm excludes m. None is off.
        corruption: {"law": "near-optimal" | "random" | "start", "budget": 3, "by": 0.6, ...}: an attack
            changes rewards by `by` after a play, until the budget is spent; see `laws.corruption`.
            "corruption" in `oracle` is the change.
        availability: {"law": "bernoulli", "p": 0.8}: arms may be unavailable in a round, but never all
            feasible ones, and all are available in the first. `info["action_mask"]` marks those of the next
            round; regret is to the best of them. See `laws.availability`. None is "all".
        budget: {"law": "gp" | "log-gp" | "unit", "budget": 50, "known": False, "noise_std": 0, ...}: plays
            cost k(x) > 0, and the episode ends when the next one exceeds the budget; see
            `bandit_envs.laws.play_costs`. A number is the budget of the law "gp". None is off.
        constraints: {"law": "gp" | "rkhs", "quantile": 0.3, "kernel": ..., "length_scale": ...}: cost
            functions like the reward's, less a constant that leaves this share of the arms feasible under
            all of them in the tightest context of each segment, and at least this share in the others. Their
            kernel, over (context, arm) features, is the model's unless one is given. None is off.
        num_constraints: the number of such costs; 1 with `constraints` alone, 0 is off.
        constraint_noise, constraint_noise_std: as for the reward, without "share"; None is none.
        rkhs_bound: "true", "paper", a number or None: the published bound on the function's norm.
        publish_model: whether prior, noise, bound and the law of the delays are published.
        function_seed: freezes the functions.
        safe_seed: publish `setting.safe_seed`, an arm drawn among all that satisfy all costs by 0.1 prior
            stds in every context and segment ("safest": the one with the most slack); costs are redrawn
            until there is one. With the model `setting.lipschitz` is published too, a bound on the slopes of
            each cost's law. Where arms are volatile the seed is always available. For agents that must
            satisfy costs in every round.
    """
    require_switch("normalize", normalize)
    law = Normalized.of(reward, decisions.points) if normalize else reward
    prior = published_prior(law, kernel, decisions.points, signal_variance, prior_mean)
    if misspecification is not None:
        with written_as({"eps": "misspecification"}):
            law = Misspecified(law, misspecification)
    costs = constraints_of(constraints, num_constraints)
    unnoised = constraint_noise is None and constraint_noise_std is None
    return Problem(
        decisions=decisions,
        reward=law,
        kernel=prior.kernel,
        noise=noise_law(noise, noise_std),
        constraints=costs.laws,
        feasibility=costs.feasibility,
        constraint_noise=noise_law(
            "none" if unnoised else constraint_noise, constraint_noise_std, "constraint_noise"
        ),
        delay=parse("delay", "immediate" if delay is None else delay, delays.LAWS),
        max_delay=max_delay,
        aggregated=aggregated,
        context=parse("context", "uniform" if context is None else context, contexts.LAWS),
        changes=changes_of(changes, change_points, num_segments),
        drift=parse("drift", "still" if drift is None else drift, _drift.LAWS),
        corruption=parse("corruption", "none" if corruption is None else corruption, _corruption.LAWS),
        availability=parse(
            "availability", "all" if availability is None else availability, _availability.LAWS
        ),
        play_costs=play_costs_of(budget),
        horizon=horizon,
        prior_mean=prior.mean,
        rkhs_bound=rkhs_bound,
        publish_model=publish_model,
        function_seed=function_seed,
        safe_seed=safe_seed,
        name=name,
    )


def with_defaults(keywords: dict[str, Any], **defaults: Any) -> dict[str, Any]:
    """Return keywords over defaults; a noise of the user's (not None) replaces the default noise altogether.

    So does any keyword of the user's on change-points, also None (which is never).
    """
    noise = {key: keywords[key] for key in ("noise", "noise_std") if keywords.get(key) is not None}
    replaced = ("noise", "noise_std") if noise else ()
    replaced += WAYS if keywords.keys() & set(WAYS) else ()
    kept = {key: value for key, value in defaults.items() if key not in replaced}
    others = {key: value for key, value in keywords.items() if key not in ("noise", "noise_std")}
    chosen = {**kept, **others, **noise}
    noted = _noted.get()
    if noted is not None:
        noted.update(chosen)
    return chosen


@contextmanager
def noted_defaults() -> Iterator[dict[str, Any]]:
    """Record the keywords of a problem made in this block without any, which replace its factory's defaults.

    They are recorded, not declared, because some are computed: noise of data, the horizon of a budget.
    """
    noted: dict[str, Any] = {}
    before = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(before)


def play_costs_of(spec: Any) -> play_costs.PlayCosts:
    """Return the law of the costs of plays, from a budget, a dict or None."""
    spec = {"law": "gp", "budget": spec} if isinstance(spec, Real) and not isinstance(spec, bool) else spec
    return parse("budget", "none" if spec is None else spec, play_costs.LAWS)


def noise_law(spec: Any, std: float | None, argument: str = "noise") -> noise.Noise:
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
        return parse(argument, spec, _noise.LAWS)


_noted: ContextVar[dict[str, Any] | None] = ContextVar("noted", default=None)
_noise = noise  # `compose` has an argument of this name

_CHOSEN_BY_FACTORY = ("decisions", "reward", "kernel", "name")
FEATURES: dict[str, Any] = {
    parameter.name: parameter.default
    for parameter in inspect.signature(compose).parameters.values()
    if parameter.name not in _CHOSEN_BY_FACTORY
}
