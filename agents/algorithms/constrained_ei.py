"""Constrained expected improvement on arms and on a box (Gardner et al. 2014)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from bandit_envs.basics.types import Floats, Ints
from bandit_envs.problem.setting import Setting

from ..acquisition.improvement import (
    FeasibleImprovement,
    FeasibleMean,
    Indifferent,
    believed_feasible,
    log_feasibility,
)
from ..agent.assumptions import FITS
from ..agent.batching import SideBySide
from ..agent.box_agent import FORM, arms_of
from ..agent.generators import Resumable
from ..agent.gp_agent import TIE
from ..agent.surrogate_agent import (
    ArmsSurrogateAgent,
    SurrogateAgent,
    each_trial,
    noise_variances,
    surrogate_model,
)
from ..beliefs.surrogates import FirstOutcomes, Prediction
from ..box.acquisition_surface import Acquisition, JointLandscape, JointSurface, with_context
from ..box.search import Pool, Terrain, make_search
from ..kernels.visited import Visited
from ..model.choice import Recommendation, argmax_with_ties
from ..model.model import Model
from ..model.options import SharedOptions
from ..model.units import PerCost
from ..protocol import handles
from ..validation import PerTrial, one_seed, require_context, require_reset


class BoxConstrainedEI(SurrogateAgent, Resumable):
    """`ConstrainedEI` on a box: the same score, climbed by its slopes. The incumbent is an arm played so far.

    Args:
        model, noise_variance, hallucinate: see `ConstrainedEI`.
    """

    def __init__(self, model: Model, noise_variance: Floats, hallucinate: bool = False):
        super().__init__(
            replace(model, form=FORM, visited=Visited(model.setting.pairs_width)), noise_variance
        )
        self.search, self.hallucinate = make_search(model.search), hallucinate

    @property
    def leaves_traces(self) -> bool:
        """Return False: `act` changes nothing but generators, since it reads the plays anew."""
        return False

    @property
    def generators(self) -> dict[str, list[np.random.Generator]]:
        """The generators that `act` and fits draw from, beside the ties, by role."""
        return {"candidates": [self._rng], "fits": [self.learning.rng]}

    def notes(self) -> dict[str, Any] | None:
        """The draws, and what the fits found; see `Resumable`."""
        noted = super().notes()
        return None if noted is None else {**noted, FITS: self.learning.fits}

    @contextmanager
    def replaying(self, notes: Mapping[str, Any]) -> Iterator[None]:
        """See `Resumable`."""
        with super().replaying(notes), self.learning.fits.replaying(notes[FITS]):
            yield

    def reset(self, seed: int) -> None:
        """Forget everything."""
        self._first = replace(self._first, visited=Visited(self.setting.pairs_width))
        self._rng = np.random.default_rng(np.random.SeedSequence(one_seed(seed)).spawn(1)[0])
        super().reset(seed)

    def skip(self) -> None:
        """See `Resumable`."""
        self.tie_breaker()

    def begin(self) -> None:
        """No sample yet of what the first plays earn."""
        self.first_outcomes = FirstOutcomes(self.model.initial)

    def learn(self, rounds: Ints, outcome: Floats) -> None:
        """Standardise again whenever one of the first plays delivers."""
        self.first_outcomes.receive(self.surrogates, rounds, outcome)

    def act(self, observation: Floats) -> Floats:
        """Choose an action in [-1, 1]^d for the observed context, (dz,) -> (d,)."""
        context, surface = self._context(observation), self._surface(self.hallucinate)
        arms, incumbent = self._played(surface, context)
        first = self.round < self.model.initial
        wanted = Indifferent() if first else FeasibleImprovement(incumbent)
        pool = self._pool(wanted, surface, context, arms)
        best = argmax_with_ties(self._apart(pool, context)[None], TIE, self.tie_breaker())[0]
        return self.setting.to_action(pool.arms[best])

    def _apart(self, pool: Pool, context: Floats) -> Floats:
        """Scores of a pool without what is pending, where several workers play and something else is left."""
        assert self.model.visited is not None
        pending = self.model.visited.features[self.surrogates.pending]
        pairs = with_context(context, pool.arms)
        same = (pairs[:, None] == pending).all(axis=2).any(axis=1)
        alone = not self.hallucinate or same.all()
        return pool.scores if alone else np.where(same, -np.inf, pool.scores)

    def points(self, observation: Floats, action: Any) -> Ints:
        """The number of the point that an action is in a context, a new one if need be, (1,)."""
        assert self.model.visited is not None
        arms = arms_of(self.setting, np.asarray(action)[None], "action")
        return np.array([self.model.visited.index(with_context(self._context(observation), arms)[0])])

    def recommend(self, observation: Floats | None = None, among: Any = None) -> Recommendation:
        """The largest mean among what is believed feasible; if nothing is, the most likely feasible."""
        require_reset(self.round >= 0)
        require_context(observation, self.setting.has_contexts)
        context, surface = self._context(np.zeros(1) if observation is None else observation), self._surface()
        if among is None:
            arms = self._best_arms(surface, context)
            among = self.setting.to_action(arms)
        else:
            arms = arms_of(self.setting, among, "among")
        believed = surface.predict(with_context(context, arms))
        scores = FeasibleMean()(believed)
        best = int((log_feasibility(believed) if np.isneginf(scores).all() else scores).argmax())
        mean, std = believed.mean[0, best], believed.std[0, best]
        return Recommendation(among[best], arms[best], float(mean), float(std))

    def _context(self, observation: Floats) -> Floats:
        require_reset(self.round >= 0)
        return self.setting.context_features(np.asarray(observation)[None])[0]

    def _surface(self, hallucinate: bool = False) -> JointSurface:
        told = self.surrogates
        return JointSurface(told.surfaces(hallucinate), told.centre, told.scale)

    def _played(self, surface: JointSurface, context: Floats) -> tuple[Floats, float | None]:
        """Arms that have delivered, best first, (n, d), and the best mean of those believed feasible."""
        arms = surface.each[0].centre.features[:, len(context) :]
        believed = surface.predict(with_context(context, arms))
        feasible = believed_feasible(believed)
        worth = np.where(feasible, believed.mean[0], log_feasibility(believed))
        order = np.lexsort((worth, feasible))[::-1]
        return arms[order], float(worth[order[0]]) if feasible.any() else None

    def _best_arms(self, surface: JointSurface, context: Floats) -> Floats:
        """Candidates for the recommendation, of the whole box, (n, d)."""
        arms, _ = self._played(surface, context)
        wanted: tuple[Acquisition, ...] = (FeasibleMean(), FeasibleImprovement(None))
        return np.vstack([self._pool(each, surface, context, arms).arms for each in wanted])

    def _pool(self, wanted: Acquisition, surface: JointSurface, context: Floats, played: Floats) -> Pool:
        landscape: Any = JointLandscape(wanted, surface, context, self.round + 1)
        return self.search(Terrain.of(landscape, self.setting, played), self._rng)


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
