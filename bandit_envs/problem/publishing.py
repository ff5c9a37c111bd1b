"""Publish a problem's laws to learners, and the few facts about the functions of a trial."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from bandit_envs.basics.types import Floats, fixed
from bandit_envs.laws import changes
from bandit_envs.laws.drawn import Drawn
from bandit_envs.laws.outcomes import OfLatent
from bandit_envs.problem.composition import Composition
from bandit_envs.problem.setting import Setting


def published(problem: Composition) -> Setting:
    """Return the setting that holds for all trials."""
    publish, decisions, priced = problem.publish_model, problem.decisions, not problem.play_costs.is_free
    stated, limits_known = problem.constraint_noise.stated_std, publish and bool(problem.constraints)
    return Setting(
        arms=None if decisions.continuous else decisions.arms,
        low=decisions.low,
        high=decisions.high,
        contexts=decisions.contexts if decisions.num_contexts > 1 else None,
        horizon=problem.horizon,
        kernel=deepcopy(problem.kernel) if publish else None,
        prior_mean=problem.prior_mean if publish else 0.0,
        misspecification=problem.reward.misspecification if publish else None,
        corruption=(problem.corruption.budget or None) if publish else None,
        noise_profile=np.tile(problem.noise.shape(decisions.unit_arms), decisions.num_contexts)
        if publish and problem.noise.publishes_shape and not decisions.continuous
        else None,
        **_latent_fields(problem),
        max_delay=problem.window,
        aggregated=problem.aggregated,
        delay=problem.delay if publish and not problem.delay.is_measured else None,
        num_constraints=len(problem.constraints),
        constraint_prior_std=problem.constraint_prior_std if limits_known else None,
        constraint_noise_std=stated if publish else None,
        constraint_noise_bound=_bound_of(problem.constraint_noise.relative_bound, stated)
        if limits_known
        else None,
        lipschitz=_slopes(problem),
        query_times=problem.delay.query_times(problem.horizon),
        may_change=problem.drifts or not isinstance(problem.changes, changes.Stationary),
        volatile=problem.volatile,
        duel=decisions.duel,
        budget=problem.play_costs.budget if priced else None,
        cost_min=problem.play_costs.least if priced else None,
        play_costs=problem.play_costs if priced and publish and not problem.play_costs.is_measured else None,
        movement=None if problem.movement.is_free else problem.movement,
        **_reward_fields(problem, problem.noise.stated_std, norm_bound(problem, ())),
    )


def fields_of_trial(
    problem: Composition, std: float, norm: float | None, costs: Drawn, safe: int | None
) -> dict[str, Any]:
    """Return a trial's fields of the setting that its draw determines; those of `trial_facts` differ.

    They follow from the noise std and `norm_bound` of the reward, the costs of plays and the safe seed.
    """
    found = {}
    if found_in_a_draw(problem) or (isinstance(problem.rkhs_bound, str) and norm is not None):
        found = _reward_fields(problem, std, norm)
    if safe is not None:
        found["safe_seed"] = fixed(np.array([safe]))
    if problem.play_costs.known:
        found["known_costs"] = costs.between if problem.decisions.continuous else fixed(costs.values)
    return found


def found_in_a_draw(problem: Composition) -> tuple[str, ...]:
    """Return the published fields of the reward that a draw determines, be it the same each time."""
    if not problem.publish_model:
        return ()
    norms_drawn = {"true": problem.reward.norm_is_drawn, "paper": True}
    facts = () if problem.noise.share is None else ("noise_std", "noise_bound")
    norm_is_drawn = norms_drawn.get(str(problem.rkhs_bound), False)
    return facts + (("rkhs_bound", "reward_lower_bound") if norm_is_drawn else ())


def _reward_fields(problem: Composition, std: float | None, norm: float | None) -> dict[str, Any]:
    if not problem.publish_model:
        return {"reward_lower_bound": problem.reward.least}
    bound = problem.noise.relative_bound
    return {
        "noise_std": std,
        "noise_bound": _bound_of(bound, std),
        "rkhs_bound": norm,
        "reward_lower_bound": problem.reward.lower_bound(problem.gram, problem.prior_mean, norm),
    }


def _bound_of(relative: float | None, std: float | None) -> float | None:
    return None if relative is None or std is None else relative * std


def _latent_fields(problem: Composition) -> dict[str, Any]:
    """Return what is published of outcomes and of the latent function that determines their means."""
    law = problem.reward
    if not (problem.publish_model and isinstance(law, OfLatent)):
        return {}
    kernel = deepcopy(law.kernel)  # an agent may fit it in place
    return {"outcome": law.outcome, "latent_kernel": kernel, "latent_bound": law.latent_bound}


def norm_bound(problem: Composition, drawn: Sequence[Sequence[Drawn]]) -> float | None:
    """Return the published bound on ||f||, given the functions of each segment, none before a draw."""
    rewards = [functions[0] for functions in drawn]
    if not isinstance(problem.rkhs_bound, str):
        return problem.rkhs_bound
    if problem.rkhs_bound == "paper":
        variance = float(problem.gram.diagonal.mean())
        norms = [float(np.sqrt(f.values @ problem.gram.dense @ f.values)) / variance for f in rewards]
    else:
        norms = [f.norm for f in rewards if f.norm is not None]
    return max(norms) if norms and len(norms) == len(rewards) else None


def _slopes(problem: Composition) -> Floats | None:
    """Return bounds on the slopes of the costs' laws, (C,), with a safe seed; None if a law has none."""
    if not (problem.safe_seed and problem.publish_model):
        return None
    each = {id(law): law.steepest(problem.gram) for law in problem.constraints}  # several may share one
    slopes = [each[id(law)] for law in problem.constraints]
    return None if None in slopes else np.array(slopes, dtype=np.float64)
