"""The readable form of each algorithm by its name, and what it is played on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from bandit_envs.basics.types import Floats

from . import (
    budgets,
    change,
    constrained,
    delayed,
    elimination,
    forgetting,
    improvement,
    moves,
    outcomes,
    randomised,
    robust,
    safe,
    stationary,
)
from .seen import Given, Seen

LINE = {"num_arms": 30, "horizon": 60}

HASTY = {"patience": 3, "cost_width": 1.0}  # S often grows in the round in which it would have settled


class Case(NamedTuple):
    """An algorithm's options, its reference, and an environment.

    Args:
        scores: reference, whose largest entries are the arms that may be played, (N,).
        options: of the agent.
        env: id.
        facts: options of the environment.
        prior: what the reference assumes otherwise than the setting says.
    """

    scores: Callable[[Given, Seen], Floats]
    options: Mapping[str, Any] = {}
    env: str = "GPBandit-GP-v0"
    facts: Mapping[str, Any] = LINE
    prior: Mapping[str, Any] = {}


def case(reference: Callable[..., Floats], place: Mapping[str, Any] | None = None, **options: Any) -> Case:
    """Return a case whose options are those of the agent and of the reference."""
    return Case(partial(reference, **options), options, **(place or {}))


DELAYS = {**LINE, "delay": {"law": "poisson", "mean": 4}}
LATE = {
    "env": "GPBandit-Delayed-v0",
    "facts": {"num_arms": 60, "horizon": 60, "length_scale": 0.1, "delay": {"law": "poisson", "mean": 4}},
}
CHANGING = {
    "env": "GPBandit-PiecewiseStationary-v0",
    "facts": {"num_arms": 40, "horizon": 120, "oracle": True},
}
COSTS = {
    "env": "GPBandit-Constrained-v0",
    "facts": {"num_arms": 30, "horizon": 60, "num_constraints": 2, "constraint_noise_std": 0.3},
}
EXACT_COSTS = {
    "env": "GPBandit-Constrained-v0",
    "facts": {"num_arms": 30, "horizon": 60, "num_constraints": 2},
}
SEEDED = {**COSTS, "facts": {**COSTS["facts"], "safe_seed": True}}
BUDGET = {
    "env": "GPBandit-Budget-v0",
    "facts": {"num_arms": 30, "budget": {"law": "gp", "budget": 30, "noise_std": 0.05}},
}
KNOWN = {
    "env": "GPBandit-Budget-v0",
    "facts": {"num_arms": 30, "budget": {"law": "gp", "budget": 30, "known": True}},
}
NORM = {"env": "GPBandit-RKHS-v0", "facts": {"num_arms": 30, "horizon": 60}}
CLICKS = {"env": "GPBandit-Clicks-v0", "facts": LINE}
COUNTS = {"env": "GPBandit-Clicks-v0", "facts": {**LINE, "outcome": {"law": "poisson", "exposure": 2.0}}}
ADS = {
    "env": "GPBandit-Clicks-v0",
    "facts": {
        **{"num_arms": 12, "horizon": 30},
        "delay": {"law": "conversions", "base": {"law": "constant", "rounds": 4}, "lost": 0.3},
    },
}
BOUNDED = {
    case["facts"].get("outcome", {"law": "bernoulli"})["law"]: {
        **case,
        "facts": {**case["facts"], "function": "rkhs", "rkhs_norm": 3.0},
    }
    for case in (CLICKS, COUNTS)
}


REFERENCES: dict[str, list[Case]] = {
    "gp-ucb": [
        Case(stationary.gp_ucb),
        case(stationary.gp_ucb, NORM, width="amm"),
        case(stationary.gp_ucb, NORM, width="self-normalised"),
        case(stationary.gp_ucb, width="constant"),
        Case(stationary.gp_ucb, facts=DELAYS),
    ],
    "igp-ucb": [Case(partial(stationary.gp_ucb, width="improved"), **NORM)],
    "kernel-ucb": [Case(stationary.kernel_ucb)],
    "dmm-ucb": [Case(partial(stationary.dmm_ucb, ratios=(0.1, 0.3, 1.0, 3.0, 10.0)), **NORM)],
    "pure-exploitation": [Case(stationary.exploitation)],
    "pure-exploration": [Case(stationary.exploration)],
    "gp-ei": [
        Case(partial(improvement.improvement, probability=False)),
        case(partial(improvement.improvement, probability=False), incumbent="best_value"),
    ],
    "gp-pi": [Case(partial(improvement.improvement, probability=True, xi=0.01))],
    "gp-ucb-sdf": [
        case(delayed.gp_ucb_sdf, LATE, window=6, reward_bound=1.0),
        Case(
            partial(delayed.gp_ucb_sdf, window=2, reward_bound=0.3, beta=2.0),
            {"window": 2, "reward_bound": 0.3, "width": 2.0},
            **LATE,
        ),
    ],
    "gp-bucb": [
        Case(delayed.gp_bucb, **LATE),
        case(delayed.gp_bucb, LATE, start=5, width=2.0),
    ],
    "mvr": [Case(stationary.exploration)],
    "bpe": [Case(partial(elimination.elimination, lengths_of=elimination.bpe_lengths), **NORM)],
    "phased-elimination": [
        Case(
            partial(elimination.elimination, lengths_of=partial(elimination.doubling_lengths, first=16)),
            **NORM,
        ),
        Case(
            partial(
                elimination.elimination,
                lengths_of=partial(elimination.doubling_lengths, first=5),
                band="plain",
                delta=0.02,
            ),
            {"first": 5, "band": "plain", "delta": 0.02, "noise_variance": 0.02},
            **NORM,
            prior={"noise_variance": 0.02},
        ),
    ],
    "reds": [
        Case(
            partial(
                elimination.elimination,
                lengths_of=partial(elimination.doubling_lengths, first=16),
                uniform=True,
            ),
            **NORM,
        )
    ],
    "movement-ucb": [
        Case(
            partial(moves.movement_ucb, price=0.3),
            facts=NORM["facts"] | {"movement": {"law": "switching", "price": 0.3}},
            env="GPBandit-RKHS-v0",
        )
    ],
    "gp-ucb-cpd": [Case(partial(change.gp_ucb_cpd, detector=True), **CHANGING)],
    # The oracle is told in the info of a period's first round, one round later than the paper's.
    "gp-ucb-oracle": [Case(partial(change.gp_ucb_cpd, detector=False, changes=(31, 61, 91)), **CHANGING)],
    "gp-ucb-no-detector": [Case(partial(change.gp_ucb_cpd, detector=False), **CHANGING)],
    "sw-gp-ucb": [case(forgetting.sw_gp_ucb, CHANGING, window=20)],
    "r-gp-ucb": [case(forgetting.r_gp_ucb, CHANGING, every=25)],
    "tv-gp-ucb": [case(forgetting.tv_gp_ucb, CHANGING, eps=0.05)],
    "w-gp-ucb": [case(forgetting.w_gp_ucb, CHANGING, discount=0.95)],
    "ui-tvbo": [case(forgetting.ui_tvbo, CHANGING, rate=0.03)],
    "gp-ucb-noiseless-constraints": [
        Case(constrained.shi, {"reading": "paper", "rkhs_bound": 1.5}, **EXACT_COSTS, prior={"bound": 1.5})
    ],
    "gp-ucb-noisy-constraints": [
        Case(
            partial(constrained.shi, step=0.5),
            {"reading": "paper", "rkhs_bound": 1.5},
            **COSTS,
            prior={"bound": 1.5},
        )
    ],
    "config": [Case(partial(constrained.rectified, name="config"), **COSTS)],
    "rpol": [Case(partial(constrained.rectified, name="rpol"), **COSTS)],
    "epbo": [Case(partial(constrained.rectified, name="epbo"), **COSTS)],
    "pdcbo": [Case(constrained.pdcbo, **COSTS)],
    "ckb": [Case(partial(constrained.ckb, width=3.0, step=60**-0.5, cap=5.0), **COSTS)],
    "constrained-ei": [Case(constrained.constrained_ei, **COSTS)],
    "ratio-ucb": [Case(budgets.ratio_ucb, **BUDGET), Case(budgets.ratio_ucb, **KNOWN)],
    "ei-per-cost": [
        Case(budgets.ei_per_cost, **KNOWN),
        case(budgets.ei_per_cost, KNOWN, cooling=False),
    ],
    "kg-per-cost": [Case(budgets.kg_per_cost, **KNOWN)],
    "pbgi": [Case(budgets.pbgi, **KNOWN)],
    "ec-gp-ucb": [
        Case(partial(robust.widened, kind="ec", sharp=True, amount=0.1), {"eps": 0.1}, **NORM),
        Case(
            partial(robust.widened, kind="ec", sharp=False, amount=0.1),
            {"eps": 0.1, "extra": "paper"},
            **NORM,
        ),
    ],
    "rgp-ucb": [
        Case(partial(robust.widened, kind="rgp", sharp=True, amount=2.0), {"budget": 2.0}, **NORM),
        Case(
            partial(robust.widened, kind="rgp", sharp=False, amount=2.0),
            {"budget": 2.0, "extra": "paper"},
            **NORM,
        ),
    ],
    "tgp-ucb": [
        case(robust.tgp_ucb, {**NORM, "prior": {"noise_variance": 1.0}}, alpha=0.5, moment=1.0),
    ],
    "stable-opt": [Case(partial(robust.stable_opt, eps=0.05, width=2.0), {"width": 2.0})],
    "safe-ucb": [
        Case(safe.safe_ucb, **SEEDED),
        case(safe.safe_ucb, SEEDED, cost_width=2.0),
    ],
    "safeopt": [Case(safe.safeopt, **SEEDED)],
    "stageopt": [
        Case(partial(safe.stageopt, until=48), **SEEDED),
        case(partial(safe.stageopt, until=48), SEEDED, **HASTY),
    ],
    "losbo": [Case(partial(safe.losbo, noise_bound=0.9), **SEEDED)],
    "ise": [Case(partial(safe.ise, until=30), **SEEDED)],
    "laplace-ucb": [
        Case(outcomes.laplace_ucb, **CLICKS),
        Case(partial(outcomes.laplace_ucb, width=2.0), {"band": 2.0}, **COUNTS),
        Case(partial(outcomes.laplace_ucb, G=lambda age: 0.7 * (age >= 4)), **ADS),
        Case(partial(outcomes.laplace_ucb, width="mixture"), {"band": "mixture"}, **BOUNDED["bernoulli"]),
        Case(partial(outcomes.laplace_ucb, width="mixture"), {"band": "mixture"}, **BOUNDED["poisson"]),
        Case(partial(stationary.gp_ucb, width=1.0)),
    ],
    "sup-kernel-ucb": [Case(partial(elimination.sup_kernel_ucb, width=2.0), {"band": 2.0}, **NORM)],
}

FEW = {"num_arms": 8, "horizon": 30, "noise_std": 0.3, "length_scale": 0.08}
FEW_LATE = ("GPBandit-Delayed-v0", {**FEW, "delay": {"law": "poisson", "mean": 4}})
FEW_CLICKS = ("GPBandit-Clicks-v0", {"num_arms": 8, "horizon": 30, "length_scale": 0.08})
FEW_SOON = ("GPBandit-GP-v0", FEW)
LAWS: dict[str, tuple[Any, ...]] = {
    "gp-ts": (randomised.gp_ts, {}, *FEW_SOON),
    "asy-ts": (randomised.asy_ts, {}, *FEW_LATE),
    "gp-bts": (randomised.gp_bts, {}, *FEW_LATE),
    "gp-ts-sdf": (
        partial(randomised.gp_ts_sdf, window=6, reward_bound=0.3),
        {"window": 6, "reward_bound": 0.3},
        *FEW_LATE,
    ),
    "batch-and-sort": (moves.sorted_plan, {}, *FEW_SOON),
    "permuted-elimination": (moves.permuted, {}, *FEW_SOON),
    "irgp-ucb": (randomised.irgp_ucb, {}, *FEW_SOON),
    "laplace-ts": (outcomes.laplace_ts, {}, *FEW_CLICKS),
    "pims": (partial(randomised.over_maximum, expected=False), {}, *FEW_SOON),
    "eims": (partial(randomised.over_maximum, expected=True), {}, *FEW_SOON),
}

WITHOUT = {
    "a-gp-ucb": "not written yet: the kernel changes from round to round",
    "admmbo": "not written yet: three nested loops are more than 40 lines",
    "bandit-oco": "has no Gaussian process",
    "bbkb": "its dictionary is drawn, and the play does not show it",
    "bkb": "its dictionary is drawn, and the play does not show it",
    "bpe-delay": "not written yet: BPE with longer batches",
    "epsilon-greedy": "has no model",
    "forest-ei": "its trees are drawn by scikit-learn",
    "forest-thompson": "its trees are drawn by scikit-learn",
    "gp-agent": "is composed of the parts of the others",
    "gp-ucb-aggregated": "ours: no paper states it",
    "lb-gp-ucb": "its turns tie at first, and the play does not show whose turn it was",
    "lin-ucb": "has no Gaussian process",
    "local-search": "has no model",
    "pe-gp-ucb": "not written yet",
    "rahbo": "not written yet: two readings of the noise",
    "random": "looks at nothing",
    "rgp-pe": "the ties of its plan are drawn, and the play does not show them",
}


def module_of(reference: Any) -> str:
    """The module that states a reference."""
    while isinstance(reference, partial):
        reference = reference.func
    return reference.__module__.rpartition(".")[2]


def readable_forms() -> dict[str, str]:
    """The module of each algorithm that has a reference."""
    first = {name: cases[0].scores for name, cases in REFERENCES.items()}
    return {name: module_of(each) for name, each in (first | {n: law[0] for n, law in LAWS.items()}).items()}
