"""The reward among the arms that keep every cost in every round, and safe sets by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Annotated, Any, NamedTuple, Unpack

import numpy as np

from bandit_envs.basics.arguments import (
    ArgumentError,
    require,
    require_choice,
    require_not_negative,
)
from bandit_envs.basics.options import count
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.setting import Setting
from bandit_envs.problem.setting_checks import checked_arms, checked_slopes

from ..beliefs.points import Arms, Points
from ..beliefs.safety import Safety
from ..model.model import Model
from ..model.rounds import Delivery
from ..model.units import PerCost, PriorUnits
from ..options import require_arms, require_left_out, typed
from .base import Band
from .parts import CostModelOptions, PenalisedParts, model_and_costs
from .safe_masks import ByBands, ByNeighbours, ByPlays, SafeMask
from .separate_models import CostModelSpec, SeparateModels

SETS = ("bands", "neighbours", "plays")
DEVIATIONS = 3.0  # stds within which unbounded noise is assumed to stay
COST_WIDTH = "finite-set"


class SafeSpec(NamedTuple):
    """What finds the safe set S.

    Args:
        sets: "bands", where ug_j <= 0, as in the authors' code of SafeOpt; "neighbours", the points that an
            arm of S certifies by its band and a Lipschitz constant, as in the papers on SafeOpt and StageOpt;
            "plays", the points that a delivered cost certifies by that and a bound on the noise, of LoSBO.
        lipschitz: L_j of each cost in its own units, (C,), of the last two; default the setting's.
        cost_noise_bound: E >= |noise on costs| in their units, one number or (C,), of the last; default the
            setting's, else 3 stds, which is no bound.
    """

    sets: str
    lipschitz: Any
    cost_noise_bound: PerCost | None

    def require(self, setting: Setting, prior: PriorUnits) -> None:
        """Raise where an option is impossible, has no effect or is needed and unknown."""
        sets, bound = self.sets, self.cost_noise_bound
        require_choice("sets", sets, SETS)
        if sets != "plays":
            require_left_out("cost_noise_bound", bound, None, f"with sets={sets!r}", 'take sets="plays"')
        elif bound is not None:
            require_not_negative("cost_noise_bound", np.asarray(bound), "it bounds the noise on costs")
        if sets == "bands":
            require_left_out("lipschitz", self.lipschitz, None, 'with sets="bands"', 'take sets="neighbours"')
        elif setting.num_constraints:
            self._slopes(setting, prior)

    def mask(self, model: Model, seed: Bools, assumed: CostModelSpec) -> SafeMask:
        """Return the safe set from the seed, (B, Z, A)."""
        setting, prior = model.setting, assumed.prior
        if self.sets == "bands" or not setting.num_constraints:
            return ByBands(seed)  # which certifies all arms where there are no costs
        slopes, points = self._slopes(setting, prior), setting.decisions.points
        if self.sets == "neighbours":
            return ByNeighbours(seed, points, slopes)
        given = self.cost_noise_bound
        known = setting.constraint_noise_bound if given is None else given
        if known is not None:
            return ByPlays(seed, points, slopes, prior.of_costs(known))
        std = np.reshape(model.noise_std, (-1, 1)) if assumed.noise is None else assumed.noise
        return ByPlays(seed, points, slopes, DEVIATIONS * std)

    def _slopes(self, setting: Setting, prior: PriorUnits) -> Floats:
        remedy = "make the environment with safe_seed=True and its model published, or give a bound on the "
        facts = setting.lipschitz, "to certify points around safe arms", f"{remedy}slope of each cost"
        found = _require_known("lipschitz", self.lipschitz, *facts)
        return np.asarray(prior.of_costs(checked_slopes("lipschitz", found, setting.num_constraints)))


class Safe(SeparateModels):
    """The reward of the arms in S, minus infinity for the others.

    S rests on feedback that was delivered, for means and for stds: plays that are pending certify
    nothing. When a trial starts over all is forgotten, so that S = S0; until an alarm after a change no
    guarantee holds. For `patience` see `agents.algorithms.safe.PatientOptions`.
    """

    keeps_plays = False

    def __init__(
        self,
        model: Model,
        num_trials: int,
        *,
        assumed: CostModelSpec,
        seed: Any,
        spec: SafeSpec,
        patience: int | None,
    ):
        super().__init__(model, num_trials, assumed)
        seed = _seed_of(model.setting, seed)
        shape = num_trials, model.setting.decisions.num_contexts, model.setting.decisions.num_arms
        safe = np.zeros(shape, dtype=bool)  # S0, (B, Z, A)
        arms = np.asarray(np.broadcast_to(seed, (num_trials, seed.shape[-1])), dtype=np.int64)
        safe[np.arange(num_trials)[:, None], :, arms] = True
        self.mask, self._patience = spec.mask(model, safe, assumed), patience
        self._ever, self._settled = self.mask.seed.copy(), np.zeros(num_trials, dtype=bool)
        self._idle = np.zeros(num_trials, dtype=np.int64)  # rounds with feedback since S grew
        self._taught = np.zeros(num_trials, dtype=bool)

    def safety(self, context: Ints, t: Ints, offered: Bools | None = None) -> Safety:
        widths = [width(t, belief.gain) for width, belief in zip(self.widths, self.costs, strict=True)]
        wide = np.array(widths).reshape(len(widths), len(t))
        shape = len(t), self.mask.seed.shape[2]
        how = self.mask.safe, self.mask.expands, self._has_settled
        return Safety(self.costs, context, wide, shape, *how, offered)

    def penalised(self, scores: Floats, points: Points, t: Ints) -> Floats:
        assert isinstance(points, Arms)
        return np.where(self.safety(points.context, t).safe, super().penalised(scores, points, t), -np.inf)

    def combined(self, scores: Floats, bands: Iterable[Band], t: Ints) -> Floats:
        return scores

    def observe(self, trial: Ints, cost: Floats) -> None:
        self._taught[trial] = True

    def receive(self, delivery: Delivery) -> None:
        super().receive(delivery)
        self.mask.receive(delivery._replace(cost=self.prior.of_costs(delivery.cost)))

    def played(self, point: Ints, t: Ints) -> None:
        rows, context = np.arange(len(point)), point // self.mask.seed.shape[2]
        safety = self.safety(context, t)
        if self._patience is not None:
            self._idle[self._grown(safety)] = 0
            self._settled = safety.settled
            self._ever[rows, context] |= safety.safe
        self.mask.played(safety)
        super().played(point, t)

    def move(self, rounds: int) -> bool:
        self._idle += self._taught
        self._taught[:] = False
        return False

    def _grown(self, safety: Safety) -> Bools:
        ever = self._ever[np.arange(len(self._ever)), safety.context]
        return np.asarray((safety.safe & ~ever).any(axis=1))

    def _has_settled(self, safety: Safety) -> Bools:
        """Trials whose S, that of this round too, has not grown for `patience` rounds with feedback."""
        if self._patience is None:
            return self._settled
        return self._settled | ((self._idle >= self._patience) & ~self._grown(safety))

    def forget(self, trial: Ints, rounds: int) -> None:
        super().forget(trial, rounds)
        self.mask.forget(trial)
        self._ever[trial] = self.mask.seed[trial]
        self._idle[trial], self._settled = 0, self._settled.copy()
        self._settled[trial] = self._taught[trial] = False


class SafeModelOptions(CostModelOptions, total=False):
    """Options of agents that keep every cost in every round.

    `cost_width` is by default "finite-set", which holds for samples of the prior; "real-beta" holds for costs
    of known norm B; 2, of the authors' code of SafeOpt, is safe in neither. `cost_belief` is left out, for
    pending plays certify nothing, and so is what comes of uniform first plays, which would not be safe.
    """

    safe_seed: Any
    """Arms whose costs are known to be kept in every context, (n,); default None: the setting's.
    There is no play without one."""
    lipschitz: Any
    """L, Lipschitz constants of the costs, see `SafeSpec`; default None: the setting's."""
    cost_noise_bound: PerCost | None
    """E, the bound on the noise of costs, in their unit, see `SafeSpec`; default None: the setting's."""


@typed
def safe_parts(
    setting: Setting,
    *,
    delta: float = 0.1,
    safe_seed: Any = None,
    sets: str = "bands",
    lipschitz: Any = None,
    cost_noise_bound: PerCost | None = None,
    patience: Annotated[int, count("it is a number of rounds in which S does not grow")] | None = None,
    **options: Unpack[CostModelOptions],
) -> PenalisedParts:
    """Return what models reward and costs apart and plays what is safe.

    Args:
        delta: failure probability of all bands together.
        sets: what finds S, see `SafeSpec`.
        patience: see `Safe`.
        safe_seed, lipschitz, cost_noise_bound, **options: see `SafeModelOptions`.
    """
    given, safely = options.get("cost_belief"), "left out where every play is to be safe"
    require(given is None, "cost_belief", f"{safely}: only delivered costs certify an arm", given)
    for name in ("standardize", "initial", "centre", "scale"):
        own: Any = options.get(name)
        absent = np.ndim(own) == 0 and not own
        require(absent, name, f"{safely}: rewards and costs are in prior deviations", own)
    _seed_of(setting, safe_seed)
    taken: CostModelOptions = {"cost_width": COST_WIDTH, **options, "standardize": False, "initial": 0}
    model, assumed = model_and_costs(setting, delta=delta, **taken)
    if setting.num_constraints:
        _require_units(setting, model, options)
    spec = SafeSpec(sets, lipschitz, cost_noise_bound)
    spec.require(setting, assumed.prior)
    made = partial(Safe, assumed=assumed, seed=safe_seed, spec=spec, patience=patience)
    return PenalisedParts(model, made, assumed.delta, separate=True)


def _require_units(setting: Setting, model: Model, options: Mapping[str, Any]) -> None:
    words = "known to keep costs in every round: its amplitude says how far values may vary; give a kernel"
    require(model.unit_is_known, "kernel", f"{words} object, such as 4.0 * RBF(0.2)", options.get("kernel"))
    task = "to keep costs in every round: it says how far each may vary"
    remedy = "give one of each cost, such as constraint_prior_std=[2.0], or make the setting with it"
    given, published = options.get("constraint_prior_std"), setting.constraint_prior_std
    _require_known("constraint_prior_std", given, published, task, remedy)


def _seed_of(setting: Setting, given: Any) -> Ints:
    """The safe arms, (n,) or (B, n); all arms where there are no costs."""
    require_arms(setting, "safe sets are made of them")
    num_arms = setting.decisions.num_arms
    if not setting.num_constraints:
        return np.arange(num_arms)
    remedy = (
        "make the environment with safe_seed=True, or give arms that are known to keep all costs: "
        'safe_seed=[3]; a Tuner takes parameters: safe=[{"x": 0.1}]'
    )
    task = "to play safely from the first round on"
    known = _require_known("safe_seed", given, setting.safe_seed, task, remedy)
    return checked_arms("safe_seed", known, num_arms)


def _require_known(name: str, given: Any, published: Any, task: str, remedy: str) -> Any:
    known = published if given is None else given
    if known is None:
        raise ArgumentError(name, f"must be known {task}, got None; {remedy}")
    return known
