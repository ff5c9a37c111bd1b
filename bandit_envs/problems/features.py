"""The keyword arguments that every problem takes, turned into laws."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from bandit_envs import laws
from bandit_envs.basics.arguments import require, require_switch, written_as
from bandit_envs.kernels.kernels import amplified
from bandit_envs.laws import derived, duels
from bandit_envs.laws.functions import FunctionLaw
from bandit_envs.laws.outcomes import matched
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems import parts

CHANGES_VALUES = ("noise", "noise_std", "normalize", "misspecification", "corruption", "drift", "duel")


def compose(
    decisions: Decisions,
    reward: FunctionLaw,
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
    movement: str | Mapping[str, Any] | None = None,
    constraints: str | Mapping[str, Any] | Sequence[FunctionLaw] | None = None,
    num_constraints: int | None = None,
    constraint_noise: str | Mapping[str, Any] | None = None,
    constraint_noise_std: float | None = None,
    rkhs_bound: str | float | None = "true",
    publish_model: bool = True,
    function_seed: int | None = None,
    safe_seed: bool | str = False,
    duel: bool = False,
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
            "heavy-tailed" | "exponential" | "log-normal" | "by-arm" | "by-reward" | "conversions", ...}, each
            with "lost", the probability that feedback is never delivered; see `bandit_envs.laws.delays`.
        max_delay: delay beyond which feedback is never delivered.
        aggregated: `info` has the sum of delivered feedback, without its rounds, in one slot of step -1; for
            agents with the feature `aggregated`.
        context: {"law": "uniform" | "blocks" | "recorded" | "walk", ...}, the sequence of contexts.
        changes: {"law": "stationary" | "at" | "evenly" | "geometric" | "recurring", ...}: change-points, at
            which functions change to others or, where they recur, back to earlier ones; see
            `bandit_envs.laws.changes`. A reward of one function needs costs that change. None is never.
        change_points: instead, the first rounds of new functions (round 0 is the first).
        num_segments: instead, the number of segments of equal length.
        drift: {"law": "ornstein-uhlenbeck", "epsilon": 0.01, "costs": True}: law by which functions drawn
            from a GP change from round to round within a segment; see `bandit_envs.laws.drift`. "segment" in
            `oracle` counts change-points alone; of a replay also the rounds in which the function differs.
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
        movement: {"law": "switching" | "travel", "price": 0.1}: the move from one play to the next costs the
            price where the arm is another, or the price times the distance in sides of the box, in units of
            the reward; see `laws.movement`. "moved" in `oracle` is the cost. None is free. Not with contexts.
        constraints: {"law": "gp" | "rkhs", "quantile": 0.3, "kernel": ..., "length_scale": ...}: cost
            functions like the reward's, less a constant that leaves this share of the arms feasible under
            all of them in the tightest context of each segment, and at least this share in the others. Their
            kernel, over (context, arm) features, is the model's unless one is given. None is off.
        num_constraints: the number of such costs; 1 with `constraints` alone, 0 is off.
        constraint_noise, constraint_noise_std: as for the reward, without "share"; None is none.
        rkhs_bound, publish_model, function_seed, safe_seed: see `Problem`. Where arms are volatile the seed
            is always available.
        duel: an action is a pair of arms, and the feedback is 1 where the first won, else 0: functions are
            utilities in units of log odds, see `bandit_envs.laws.duels`. `noise` is then left out, as the
            outcome is random by itself.
    """
    require_switch("normalize", normalize)
    require_switch("duel", duel)
    over_time = parts.part_of("drift", drift)
    if isinstance(over_time, laws.drift.Replay):
        own_units = "False where a recording is replayed, which keeps its units"
        require(not normalize, "normalize", own_units, normalize)
        as_recorded = "None where a recording is replayed, which is played as it is"
        require(misspecification is None, "misspecification", as_recorded, misspecification)
    law = derived.Normalized.of(reward, decisions.points) if normalize else reward
    published, mean = parts.published_prior(law, kernel, decisions.points, signal_variance, prior_mean)
    if misspecification is not None:
        with written_as({"eps": "misspecification"}):
            law = derived.Misspecified(law, misspecification)
    if duel:
        for argument, given in {"noise": noise, "noise_std": noise_std}.items():
            require(given is None, argument, "left out of duels: who wins is random by itself", given)
        decisions, law = replace(decisions, duel=True), duels.AgainstBest(law, decisions.num_arms)
    costs, feasibility = parts.constraints_of(constraints, num_constraints)
    unnoised = constraint_noise is None and constraint_noise_std is None
    of_costs = laws.NoNoise() if unnoised else constraint_noise
    return Problem(
        decisions=decisions,
        reward=law,
        kernel=published,
        noise=duels.WhoWins() if duel else parts.noise_law(noise, noise_std),
        constraints=costs,
        feasibility=feasibility,
        constraint_noise=parts.noise_law(of_costs, constraint_noise_std, "constraint_noise"),
        delay=parts.part_of("delay", delay),
        max_delay=max_delay,
        aggregated=aggregated,
        context=parts.part_of("context", context),
        changes=parts.changes_of(changes, change_points, num_segments),
        drift=over_time,
        corruption=parts.part_of("corruption", corruption),
        availability=parts.part_of("availability", availability),
        play_costs=parts.play_costs_of(budget),
        movement=parts.part_of("movement", movement),
        horizon=horizon,
        prior_mean=mean,
        rkhs_bound=rkhs_bound,
        publish_model=publish_model,
        function_seed=function_seed,
        safe_seed=safe_seed,
        name=name,
    )


def with_defaults(keywords: dict[str, Any], **defaults: Any) -> dict[str, Any]:
    """Return keywords over defaults; a noise of the user's (not None) replaces the default noise altogether.

    Duels, clicks and counts have no noise beside their outcome, so they too leave out the default; clicks and
    counts are in units of their own, so defaults that rescale values are left out too.
    So does any keyword of the user's on change-points, also None (which is never).
    """
    noise = {key: keywords[key] for key in ("noise", "noise_std") if keywords.get(key) is not None}
    is_outcome = keywords.get("duel") is True or keywords.get("outcome") is not None
    replaced = ("noise", "noise_std") if noise or is_outcome else ()
    replaced += CHANGES_VALUES if keywords.get("outcome") is not None else ()
    replaced += parts.WAYS if keywords.keys() & set(parts.WAYS) else ()
    kept = {key: value for key, value in defaults.items() if key not in replaced}
    others = {key: value for key, value in keywords.items() if key not in ("noise", "noise_std")}
    chosen = {**kept, **others, **noise}
    if (noted := _noted.get()) is not None:
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


_noted: ContextVar[dict[str, Any] | None] = ContextVar("noted", default=None)

_CHOSEN_BY_FACTORY = ("decisions", "reward", "kernel", "name")
FEATURES: dict[str, Any] = {
    parameter.name: parameter.default
    for parameter in inspect.signature(compose).parameters.values()
    if parameter.name not in _CHOSEN_BY_FACTORY
}


def of_outcomes(
    decisions: Decisions, law: FunctionLaw, kernel: Any, outcome: Any, name: str, features: dict[str, Any]
) -> Problem:
    """Compose a problem of clicks or counts; features that change a value would leave their law."""
    for feature in CHANGES_VALUES:
        given = features.get(feature)
        absent = given is None or given is False
        require(absent, feature, "left out where rewards are clicks or counts", given)
    latent = amplified(kernel, parts.checked_variance(features.get("signal_variance")))
    found = matched(law, latent, decisions.points, outcome)
    others = {key: value for key, value in features.items() if key != "signal_variance"}
    return compose(decisions, found.reward, found.kernel, name=name, **{**others, "noise": found.noise})
