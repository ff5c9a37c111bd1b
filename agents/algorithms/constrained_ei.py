"""Constrained expected improvement (Gardner et al. 2014)."""

from __future__ import annotations

from functools import partial
from typing import Unpack

from bandit_envs.problem.setting import Setting

from ..acquisition.by_name import Always
from ..acquisition.incumbents import MaxWorth
from ..acquisition.rules import ExpectedImprovement
from ..agent.assembly import Agent, assemble
from ..agent.assumptions import EachLearnt, OwnNoise
from ..beliefs.delivered import Delivered
from ..beliefs.imputed import Hallucinated
from ..model.options import SharedOptions
from ..model.units import PerCost, once_model
from ..objectives.each_modelled_parts import each_with_own_noise
from ..objectives.feasible import Feasible
from ..options import require_left_out
from ..protocol import handles
from ..validation import PerTrial

FIRST = 5  # uniform plays from which prior means and amplitudes are taken


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

    Readable form: tests/references/constrained.py.

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
    for name, default in (("fit_on", "arrived"), ("fit_mean", False)):
        given, where = options.get(name, default), "where reward and costs have separate models"
        remedy = "their prior means are taken from the first delivered plays"
        require_left_out(name, given, default, where, remedy)
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
        assumptions=OwnNoise if model.learning is None else EachLearnt,
    )
