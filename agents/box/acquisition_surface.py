"""The acquisition surface on a box, of one belief or of reward and costs together, with its slopes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints

from ..acquisition.candidates import Rule
from ..beliefs.base import Ridge
from ..beliefs.ridges import Pulls
from ..beliefs.surface import Local, Surface
from ..beliefs.surrogates import Prediction
from ..objectives.base import BoxTerms
from .path import Path


@dataclass
class BoxView:
    """Candidates of rules on a box: A arms of one trial in S worlds, usually one; see `Candidates`."""

    mean: Floats  # (S, A)
    std: Floats  # (S, A)
    t: Ints  # (1,)
    gain: Floats  # (1,)
    bias: Floats | float  # (1,)
    incumbent: Floats  # (S,)
    deviate: Callable[[], Floats]  # one posterior sample of f - mean, -> (1, A)
    weigh: Callable[[], Floats]  # -> (A,)
    draw: Callable[[], Sequence[np.random.Generator]]  # -> (1,)
    maximise: Callable[[], Floats]  # a sample -> (1,), the same throughout a round
    regularise: Callable[[], list[Ridge]] = list
    pull: Callable[[], list[Pulls]] = list
    ask: Callable[[], Floats] = field(default=lambda: np.zeros((1, 1)))
    _rngs: Sequence[np.random.Generator] | None = field(default=None, init=False)

    @property
    def weight_norm(self) -> Floats:
        """|a_x|, (S, A)."""
        return np.broadcast_to(self.weigh(), self.mean.shape)

    @property
    def pulls(self) -> list[Pulls]:
        """Weights of the observations in the mean, (1,)."""
        return self.pull()

    @property
    def ridges(self) -> list[Ridge]:
        """The posterior under each regularisation, (1, A)."""
        return self.regularise()

    @property
    def price(self) -> Floats:
        """Least worthwhile expected improvement, (1, A)."""
        return self.ask()

    @property
    def active(self) -> Bools:
        """Mask of all arms, (S, A)."""
        return np.ones(self.mean.shape, dtype=bool)

    @property
    def safety(self) -> None:
        """None: a box has no safe set."""
        return

    @property
    def rngs(self) -> Sequence[np.random.Generator]:
        """Generators of the rule's own draws, (1,)."""
        if self._rngs is None:
            self._rngs = self.draw()
        return self._rngs

    def deviation(self) -> Floats:
        """Return one joint posterior sample of f - mean, (1, A)."""
        return self.deviate()

    def sample(self, factor: Floats | float = 1.0) -> Floats:
        """Return the mean plus w (f - mean) of one joint posterior sample of f, (S, A)."""
        return self.mean + factor * self.deviate()

    def sampled_maximum(self) -> Floats:
        """Return the largest value of one joint posterior sample of f, (1,)."""
        return self.maximise()

    def drawing(self, trials: Bools) -> BoxView:
        """Return the candidates themselves: there is one trial."""
        return self


class Landscape:
    """Acquisition surface: scores of arms, and their slopes where the rule has any.

    Args:
        rule: function from the belief to scores.
        surface: the belief.
        context: features of the context, (dz,).
        facts: a view without arms: round, gain, bias and incumbent. In S > 1 worlds the rule's scores must be
            logarithms of the averaged quantity, as those of expected improvement are.
        rng: generator of samples.
        terms: adds the objective's terms to the scores of the rule, which then have no slopes; None for none.
        unit: scale of the scores.
        ridges, pulls: the posterior under each regularisation, and the weights of the observations in the
            mean, at pairs (n, dz + d); only some rules use them.
        prices: least worthwhile improvements, (n, dz + d) -> (1, n); likewise.
    """

    def __init__(
        self,
        rule: Rule,
        surface: Surface,
        context: Floats,
        facts: BoxView,
        rng: np.random.Generator,
        terms: BoxTerms | None = None,
        unit: float = 1.0,
        ridges: Callable[[Floats], list[Ridge]] | None = None,
        pulls: Callable[[Floats], list[Pulls]] | None = None,
        prices: Callable[[Floats], Floats] | None = None,
    ):
        self.rule, self.surface, self.context, self._facts = rule, surface, context, facts
        self.unit = unit
        self._terms = terms
        self._ridges, self._pulls, self._prices = ridges, pulls, prices
        self._path = Path(surface, rng)

    @property
    def t(self) -> int:
        """Number of the round, 1, 2, ..."""
        return int(self._facts.t[0])

    def scores(self, arms: Floats) -> Floats:
        """Return scores, (n, d) -> (n,); all calls share one sample where the rule draws one."""
        pairs = self._pairs(arms)
        scores = averaged(self.rule(self._view(pairs, self.surface.local(pairs))))[0]
        return scores if self._terms is None else self._terms(scores, pairs, self._facts.t)

    def climb(self, arms: Floats) -> tuple[Floats, Floats] | None:
        """Return scores and slopes, (n, d) -> (n,) and (n, d); None where the rule has no slopes."""
        slopes_of = getattr(self.rule, "slopes", None)
        if slopes_of is None or self._terms is not None:
            return None
        pairs = self._pairs(arms)
        local = self.surface.local(pairs)
        view = self._view(pairs, local)
        of_belief = slopes_of(view)
        if of_belief is None:
            return None
        scores, share = averaged(self.rule(view))
        slope = local.pull(share * of_belief.mean, (share * of_belief.std).sum(axis=0))
        return scores, slope[:, len(self.context) :]

    def _view(self, pairs: Floats, local: Local) -> BoxView:
        std = np.broadcast_to(local.std, local.mean.shape)
        return replace(
            self._facts,
            mean=local.mean,
            std=std,
            deviate=lambda: self._path(pairs)[None],
            weigh=lambda: self.surface.weight_norm(pairs),
            regularise=lambda: self._ridges(pairs) if self._ridges else [],
            pull=lambda: self._pulls(pairs) if self._pulls else [],
            ask=lambda: self._prices(pairs) if self._prices else np.zeros((1, 1)),
        )

    def _pairs(self, arms: Floats) -> Floats:
        return with_context(self.context, arms)


def averaged(scores: Floats) -> tuple[Floats, Floats]:
    """Return log mean exp over worlds and each world's share in it, (S, n) -> (n,) and (S, n).

    For one world it is the score itself, logarithm or not. Shares of scores that are -inf in all worlds are
    0.
    """
    if len(scores) == 1:
        return scores[0], np.ones_like(scores)
    top = scores.max(axis=0)
    top = np.where(np.isfinite(top), top, 0.0)
    share = np.exp(scores - top)
    total = share.sum(axis=0)
    share /= np.where(total > 0.0, total, 1.0)
    with np.errstate(divide="ignore"):  # log 0 is intended
        return top + np.log(total) - math.log(len(scores)), share


def with_context(context: Floats, arms: Floats) -> Floats:
    """Return features of arms in a context, (dz,) and (n, d) -> (n, dz + d); without one the arms alone."""
    if not len(context):
        return arms
    return np.hstack([np.broadcast_to(context, (len(arms), len(context))), arms])


class Acquisition(Protocol):
    """Turns beliefs about 1 + C functions into scores; with a method `slopes` it can be climbed."""

    def __call__(self, believed: Prediction) -> Floats:
        """Scores, (A,)."""
        ...


class JointLocal(NamedTuple):
    """The beliefs at n points and how they change with them."""

    believed: Prediction
    pull: Callable[[Prediction], Floats]  # slopes in means and deviations -> slopes in x, (n, D)


class JointSurface:
    """Beliefs about 1 + C functions, each centre + scale h.

    Args:
        each: surfaces of h.
        centre, scale: (1 + C,).
    """

    def __init__(self, each: Sequence[Surface], centre: Floats, scale: Floats):
        self.each, self.centre, self.scale = each, centre, scale

    def predict(self, x: Floats) -> Prediction:
        """Means and deviations, (n, D) -> (1 + C, n) each."""
        return self.local(x).believed

    def local(self, x: Floats) -> JointLocal:
        """Means and deviations, and what their slopes need, (n, D)."""
        scale = self.scale[:, None]
        local = [surface.local(x) for surface in self.each]
        mean = self.centre[:, None] + scale * np.array([each.mean[0] for each in local])  # of the only world
        std = scale * np.array([each.std for each in local])

        def pull(slopes: Prediction) -> Floats:
            rows = zip(local, scale * slopes.mean, scale * slopes.std, strict=True)
            return np.sum([each.pull(of_mean[None], of_std) for each, of_mean, of_std in rows], axis=0)

        return JointLocal(Prediction(mean, std), pull)


class JointLandscape:
    """Scores of arms in one context, and their slopes where the acquisition has any.

    Args:
        wanted: turns what is believed into scores.
        surface: what is believed.
        context: features of the context, (dz,).
        t: t = 1, 2, ...
    """

    def __init__(self, wanted: Acquisition, surface: JointSurface, context: Floats, t: int):
        self.wanted, self.surface, self.context, self.t = wanted, surface, context, t
        self.unit = 1.0  # of the scores, which are logarithms

    def scores(self, arms: Floats) -> Floats:
        """Scores, (n, d) -> (n,)."""
        return self.wanted(self.surface.predict(with_context(self.context, arms)))

    def climb(self, arms: Floats) -> tuple[Floats, Floats] | None:
        """Scores and slopes, (n, d) -> (n,) and (n, d); None where the acquisition has no slopes."""
        slopes_of = getattr(self.wanted, "slopes", None)
        if slopes_of is None:
            return None
        believed, pull = self.surface.local(with_context(self.context, arms))
        return self.wanted(believed), pull(slopes_of(believed))[:, len(self.context) :]
