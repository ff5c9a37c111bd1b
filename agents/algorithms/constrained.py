"""Named algorithms for long-term constraints (Shi & Eryilmaz 2022), and constrained expected improvement.

Readable form: tests/references/constrained.py.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Annotated, Any, Unpack

from bandit_envs.basics.options import one_of
from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import Always, WithWidth
from ..acquisition.improvement import MaxWorth
from ..acquisition.rules import UCB, ExpectedImprovement, Thompson
from ..agent.assembly import Agent, assemble
from ..agent.assumptions import in_scales_of_first_plays, learnt_separately
from ..agent.model_ensemble import in_epochs
from ..beliefs.delivered import Delivered
from ..beliefs.imputed import Hallucinated
from ..model.defaults import SharedOptions
from ..model.units import PerCost, known_per_cost, once_model
from ..objectives.by_name import CONSTRAINTS
from ..objectives.parts import PenalisedParts, ReadingOptions, each_with_own_noise, require_own_means
from ..objectives.primal_dual import Feasible
from ..options import PerTrial
from ..protocol import handles
from ..widths.by_name import improved_width

FIRST = 5  # uniform plays from which prior means and amplitudes are taken
Inner = Annotated[str, one_of("ucb", "thompson")]


@handles("delay", "context", "constraint", "box", "availability", "horizon")
def gp_ucb_noiseless_constraints(
    setting: Setting,
    *,
    psi: str = "exponential",
    psi_options: dict[str, float] | None = None,
    inner: Inner = "ucb",
    delta: float = 0.1,
    gamma: Any = "realised",
    num_trials: int | None = None,
    **options: Unpack[ReadingOptions],
) -> Agent:
    """Algorithm 2: multiplicative multipliers on psi(g), for constraints that are observed without noise.

    A constraint given twice has two multipliers, which changes plays; one that is never active changes none.

    Args:
        psi: "exponential" (exp(c x)) or "polynomial" ((c x + 1)^n), 1 for x <= 0.
        psi_options: {"c": ..., "n": ...}.
        inner: "ucb" (IGP-UCB) or "thompson" (GP-TS, the paper's Remark 1).
        delta: failure probability of all epochs together.
        gamma: information gain of the width, see `make_gamma`.
    """
    noise = known_per_cost("constraint_noise_std", setting, options.get("constraint_noise_std"))
    if noise is not None and noise.any():
        words = f"psi of noisy costs is biased (constraint_noise_std={float(noise.max()):g}); take"
        warnings.warn(f"{words} 'gp-ucb-noisy-constraints'", UserWarning, stacklevel=2)
    by_psi = {"psi": psi, "psi_options": psi_options}
    parts = CONSTRAINTS["multiplicative"](setting, delta, {}, **by_psi, **options)
    return _assemble(parts, inner, gamma, num_trials)


@handles("delay", "context", "constraint", "box", "availability", "horizon")
def gp_ucb_noisy_constraints(
    setting: Setting,
    *,
    step: float | None = None,
    inner: Inner = "ucb",
    delta: float = 0.1,
    gamma: Any = "realised",
    num_trials: int | None = None,
    **options: Unpack[ReadingOptions],
) -> Agent:
    """Algorithm 3: linear multipliers by dual descent, for constraints that are observed with noise.

    A constraint given twice has two multipliers, which changes plays; one that is never active changes none.

    Args:
        step: step size of the dual descent. The paper requires O(1 / sqrt(L)), and its experiments take 0.5
            in units of f and g. Default 0.5 with `reading="paper"`, else `adaptive_step`.
        inner: "ucb", or "thompson", which here is an extension of the paper.
    """
    parts = CONSTRAINTS["dual"](setting, delta, {}, step=step, **options)
    return _assemble(parts, inner, gamma, num_trials)


def _assemble(parts: PenalisedParts, inner: str, gamma: Any, num_trials: int | None) -> Agent:
    width_of = partial(improved_width, gamma=gamma, delta=parts.delta, union=2 if inner == "thompson" else 1)
    rule_of = WithWidth(Thompson if inner == "thompson" else UCB, width_of)
    kinds = in_epochs(parts.incumbent_first) | learnt_separately(parts.model, parts.separate)
    return assemble(parts.model, rule_of, num_trials, objective=parts.objective, **kinds)


@handles("delay", "context", "constraint", "box", "availability")
def constrained_ei(
    setting: Setting,
    *,
    initial: int = FIRST,
    constraint_noise_std: PerCost | None = None,
    noise_variance: PerTrial | str | None = None,
    hallucinate: bool = False,
    num_trials: int | None = None,
    **options: Unpack[SharedOptions],
) -> Agent:
    r"""Constrained EI: argmax EI_f(x) prod_j Phi(-mu_j(x) / sigma_j(x)) (Gardner et al. 2014, equation 6).

    EI_f is over the largest mu_f among the played points with all mu_j <= 0, the noisy reading of the best
    feasible value. While there is none the product of the Phi is maximised alone. The paper does not say
    what the processes assume of means and amplitudes: here they are the mean and the std of each function
    over the first plays, which are uniform.

    Costs count as independent, and a probability below 1 is a factor: a constraint that is given twice, or
    never active, changes plays.

    Args:
        initial: first plays, uniform, from which prior means and amplitudes are estimated.
        constraint_noise_std: std of the noise on costs; default the setting's, else as much of a cost's scale
            as the reward's is of its own.
        noise_variance: lambda of the reward, see `ModelOptions`; in units of the first plays it counts as at
            least 1e-6 of the prior variance.
        hallucinate: count pending plays in the stds and repeat none of them while others are left, which
            keeps several workers apart.
        **options: with `refit_every` reward and costs learn a kernel and a noise each.
    """
    require_own_means(options)
    of_reward = once_model(setting, initial=initial, noise_variance=noise_variance, **options)
    belief = Hallucinated if hallucinate else Delivered
    model, assumed = each_with_own_noise(
        of_reward, constraint_noise_std, standardize=True, cost_belief=belief
    )
    return assemble(
        model,
        Always(ExpectedImprovement()),
        num_trials,
        belief=belief,
        incumbent=MaxWorth,
        objective=partial(Feasible, assumed=assumed),
        **in_scales_of_first_plays(model),
    )
