"""Constrained expected improvement (Gardner et al. 2014)."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.feasible_improvement import (
    FeasibleImprovement,
    FeasibleMean,
    believed_feasible,
    log_feasibility,
)
from ..agent.batching import SideBySide
from ..agent.surrogate_agent import (
    ArmsSurrogateAgent,
    each_trial,
    noise_variances,
    surrogate_model,
)
from ..beliefs.surrogates import FirstOutcomes, Prediction
from ..capabilities import handles
from ..model.model import Model
from ..model.options import SharedOptions
from ..model.units import PerCost
from ..validation import PerTrial
from .constrained_ei_on_box import BoxConstrainedEI

FIRST = 5  # uniform plays from which prior means and amplitudes are taken


class ConstrainedEI(ArmsSurrogateAgent):
    r"""argmax EI_f(x) prod_j Phi(-mu_j(x) / sigma_j(x)), one trial (Gardner et al. 2014, equation 6).

    EI_f is over the largest mu_f among the played points with all mu_j <= 0, the noisy reading of the best
    feasible value. While there is none the product of the Phi is maximised alone. The paper does not say
    what the processes assume of means and amplitudes: here they are the mean and the deviation of each
    function over the first `model.initial` plays, which are uniform.

    Args:
        model: kernel, points and the number of first plays.
        noise_variance: of reward and costs, (1 + C,).
        hallucinate: take deviations from all plays, the pending ones too, as GP-BUCB does, and repeat none
            that is pending.
    """

    def __init__(self, model: Model, noise_variance: Floats, hallucinate: bool = False):
        super().__init__(model, noise_variance)
        self.hallucinate = hallucinate

    def begin(self) -> None:
        """No sample yet of what the first plays earn."""
        self.first_outcomes = FirstOutcomes(self.model.initial)

    def scores(self, context: int) -> Floats:
        """Logarithm of the acquisition function, (A,)."""
        if self.round < self.model.initial:
            return np.zeros(self.setting.decisions.num_arms)
        believed = self.surrogates.predict(context, self.hallucinate)
        feasible = believed_feasible(believed) & self.surrogates.played(context) & self.there
        incumbent = float(believed.mean[0, feasible].max()) if feasible.any() else None
        return self._apart(FeasibleImprovement(incumbent)(believed), context)

    def _apart(self, scores: Floats, context: int) -> Floats:
        """Scores without arms that are pending, where several workers play and others are left."""
        arms = np.arange(len(scores))
        pending = np.isin(
            self.setting.decisions.point_index(np.full(len(arms), context), arms), self.surrogates.pending
        )
        alone = not self.hallucinate or not (self.there & ~pending).any()
        return scores if alone else np.where(pending, -np.inf, scores)

    def learn(self, rounds: Ints, outcome: Floats) -> None:
        """Standardise again whenever one of the first plays delivers."""
        self.first_outcomes.receive(self.surrogates, rounds, outcome)

    def best(self, believed: Prediction, arms: Ints) -> int:
        """The largest mean among the arms believed feasible; if there are none, the most likely feasible."""
        scores = FeasibleMean()(believed)
        return int((log_feasibility(believed) if np.isneginf(scores).all() else scores).argmax())


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
) -> ConstrainedEI | BoxConstrainedEI | SideBySide:
    """Constrained EI: expected improvement times the probability of feasibility (Gardner et al. 2014).

    Readable form: tests/references/constrained.py.

    Costs count as independent, and a probability below 1 is a factor: a constraint given twice changes 17 %
    of the plays (50 arms, T = 120, noise 0.1), one that is never active up to 2 %.

    Args:
        setting: what is published of the problem.
        initial: first plays, uniform, from which prior means and amplitudes are estimated.
        constraint_noise_std: deviation of the noise on costs; default the setting's, else as much of
            a cost's prior variance as the reward's is of its own.
        noise_variance: lambda of the reward, see `ModelOptions`; in units of the first plays it counts as at
            least 1e-6 of the prior variance.
        hallucinate: count pending plays in the deviations and repeat none of them while others are left,
            which keeps several workers apart.
        num_trials: None, or B.
        **options: of the model: kernel, length_scale, noise_std, form, and search on a box; with
            `refit_every` reward and costs learn a kernel and a noise each by marginal likelihood (also
            `fit_most`, `fit_restarts`, `fit_spread`); see `SharedOptions`.
    """
    model: Model = surrogate_model(setting, initial=initial, noise_variance=noise_variance, **options)
    noise = noise_variances(model, constraint_noise_std, num_trials or 1)
    agent = BoxConstrainedEI if setting.continuous else ConstrainedEI
    return each_trial(lambda i: agent(model, noise[i], hallucinate), num_trials)
