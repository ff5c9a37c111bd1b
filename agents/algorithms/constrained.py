"""Named algorithms for long-term constraints (Shi & Eryilmaz 2022).

Readable form: tests/references/constrained.py.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, Unpack

from bandit_envs.basics.arguments import require_choice
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import WithWidth
from ..acquisition.rules import UCB, Thompson
from ..agent.assembly import Agent, assemble
from ..model.units import known_per_cost
from ..named import made
from ..objectives.penalised_parts import EPOCH, PenalisedOptions, PenalisedParts, dual, penalised_parts
from ..objectives.penalties import PSI, Multiplicative
from ..protocol import handles
from ..widths.by_name import improved_width


@handles("delay", "context", "constraint", "box", "availability", "horizon")
def gp_ucb_noiseless_constraints(
    setting: Setting,
    *,
    epoch: int = EPOCH,
    psi: str = "exponential",
    psi_options: dict[str, float] | None = None,
    reading: str = "default",
    inner: str = "ucb",
    delta: float = 0.1,
    gamma: Any = "realised",
    num_trials: int | None = None,
    **options: Unpack[PenalisedOptions],
) -> Agent:
    """Algorithm 2: multiplicative multipliers on psi(g), for constraints that are observed without noise.

    A constraint given twice has two multipliers, which changes plays; one that is never active changes none.

    Args:
        epoch: rounds S between two updates of the multipliers.
        psi: "exponential" (exp(c x)) or "polynomial" ((c x + 1)^n), 1 for x <= 0.
        psi_options: {"c": ..., "n": ...}.
        reading: "paper" plays the pseudocode's argmax; see `penalised_parts` for what "default" changes.
        inner: "ucb" (IGP-UCB) or "thompson" (GP-TS, the paper's Remark 1).
        delta: failure probability of all epochs together.
        gamma: information gain of the width, see `make_gamma`.
    """
    penalty = Multiplicative(made("psi", psi, PSI, psi_options))
    noise = known_per_cost("constraint_noise_std", setting, options.get("constraint_noise_std"))
    if noise is not None and noise.any():
        words = f"psi of noisy costs is biased (constraint_noise_std={float(noise.max()):g}); take"
        warnings.warn(f"{words} 'gp-ucb-noisy-constraints'", UserWarning, stacklevel=2)
    parts = penalised_parts(setting, penalty, reading=reading, epoch=epoch, delta=delta, **options)
    return _assemble(parts, inner, gamma, num_trials)


@handles("delay", "context", "constraint", "box", "availability", "horizon")
def gp_ucb_noisy_constraints(
    setting: Setting,
    *,
    epoch: int = EPOCH,
    step: float | None = None,
    reading: str = "default",
    inner: str = "ucb",
    delta: float = 0.1,
    gamma: Any = "realised",
    num_trials: int | None = None,
    **options: Unpack[PenalisedOptions],
) -> Agent:
    """Algorithm 3: linear multipliers by dual descent, for constraints that are observed with noise.

    A constraint given twice has two multipliers, which changes plays; one that is never active changes none.

    Args:
        epoch: rounds S between two updates of the multipliers.
        step: step size of the dual descent. The paper requires O(1 / sqrt(L)), and its experiments take 0.5
            in units of f and g. Default 0.5 with `reading="paper"`, else `adaptive_step`.
        reading: as for `gp_ucb_noiseless_constraints`.
        inner: "ucb", or "thompson", which here is an extension of the paper.
        delta, gamma, num_trials, **options: as for `gp_ucb_noiseless_constraints`.
    """
    penalty = dual(step, reading)
    parts = penalised_parts(setting, penalty, reading=reading, epoch=epoch, delta=delta, **options)
    return _assemble(parts, inner, gamma, num_trials)


def _assemble(parts: PenalisedParts, inner: str, gamma: Any, num_trials: int | None) -> Agent:
    require_choice("inner", inner, ("ucb", "thompson"))
    width_of = partial(improved_width, gamma=gamma, delta=parts.delta, union=2 if inner == "thompson" else 1)
    rule_of = WithWidth(Thompson if inner == "thompson" else UCB, width_of)
    return assemble(parts.model, rule_of, num_trials, objective=parts.objective)
