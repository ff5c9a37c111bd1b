"""A `Setting` publishes a problem before it is played, for one trial or for B."""

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from bandit_envs.basics.arguments import plain, require
from bandit_envs.basics.notebook import brief, html_facts
from bandit_envs.basics.types import Floats, Ints, fixed, fixed_arrays
from bandit_envs.laws.delays import Delay
from bandit_envs.laws.movement import Movement
from bandit_envs.laws.outcomes import OutcomeLaw
from bandit_envs.laws.play_costs import PlayCosts
from bandit_envs.problem import setting_checks
from bandit_envs.problem.decisions import Decisions, checked_context_box, checked_places

PER_TRIAL = (
    *("noise_std", "noise_bound", "rkhs_bound", "reward_lower_bound"),
    *("safe_seed", "lipschitz", "known_costs"),
)
PLACES = ("arms", "low", "high", "contexts", "context_low", "context_high")  # `decisions` follows from them
TIMES = ("horizon", "max_delay", "delay", "query_times")
OF_POINTS = ("prior_mean", "known_costs", "noise_profile")  # numbers at each point
OF_COSTS = ("safe_seed", "lipschitz")  # several numbers a trial
KERNELS = ("kernel", "latent_kernel")  # mutable objects of scikit-learn


def batch_settings(settings: "Sequence[Setting]") -> "Setting":
    """Return the setting of a batch: scalars where the trials agree, else (B,) arrays."""
    return settings[0].with_facts(**{name: _merge(settings, name) for name in PER_TRIAL})


def _merge(settings: "Sequence[Setting]", name: str) -> Any:
    values = [getattr(setting, name) for setting in settings]
    if name == "known_costs":
        if values[0] is None:
            return None
        return tuple(values) if callable(values[0]) else np.stack(values)
    alike = all(np.array_equal(value, values[0]) for value in values)
    return values[0] if alike else np.array(values, dtype=np.int64 if name == "safe_seed" else np.float64)


def _pick(name: str, value: Any, trial: int) -> Any:
    if name == "known_costs":
        return value[trial] if isinstance(value, tuple) or np.ndim(value) == 2 else value
    if not isinstance(value, np.ndarray):
        return value
    if name in OF_COSTS:
        return value if value.ndim == 1 else value[trial]
    return float(value[trial])


@dataclass(frozen=True, eq=False)
class Setting:
    """Hold the published part of a problem. Points are in the kernel's units, actions in the environment's.

    Users without an environment build one themselves: `Setting(arms=grid, horizon=100)`. None is a fact that
    is unknown or withheld, or a feature that is absent.

    Args:
        arms: features of the arms, (A, d); None on a box.
        low, high: bounds of the arms or the box, (d,); needed where `arms` is None.
        contexts: features of the contexts, (Z, dz); None without contexts, or where they are any of a box.
        context_low, context_high: bounds of contexts that are no finite set, (dz,). The observation is then
            the context itself, in the kernel's units; arms must be a box too.
        horizon: number of rounds T.
        kernel: the model's kernel of the reward, a scikit-learn kernel over (context, arm) features; without
            it agents estimate the reward's unit from first plays. A WhiteKernel that is a term of its sum is
            taken out and sets `noise_std`. Drawn costs share the kernel unless they have their own.
        prior_mean: the model's mean of the reward at each point, (N,), or one number.
        noise_std: standard deviation of the reward noise, R of the papers.
        noise_profile: noise std at each point over `noise_std`, (N,), in (0, 1], where it is not the same
            everywhere. `info` may then hold "feedback_std" for delivered feedback.
        misspecification: eps: the reward differs by at most eps from a function of the kernel's space, whose
            norm `rkhs_bound` bounds.
        corruption: C, a bound on the sum of all changes of rewards by an attack.
        aggregated: whether `info` holds only the sum of the feedback delivered in a round, not its rounds.
        outcome: law of a play's outcome, where rewards are clicks or counts and the functions are their
            means. Kernel, prior mean and noise are then moment-matched.
        latent_kernel: kernel of the latent function f, whose link is the mean outcome.
        latent_bound: bound on the norm of f in that kernel's space.
        noise_bound: almost sure bound on the noise.
        rkhs_bound: B with ||f|| <= B.
        reward_lower_bound: level that f never or seldom falls below, a constant of its law.
        max_delay: feedback later than this many rounds is never delivered; by default derived from the law of
            delays and the query times, 0 without a law.
        delay: law of the delays, or its description, {"law": "poisson", "mean": 10}. Its quantiles are in
            rounds, or in units of time where it has query times.
        num_constraints: C.
        constraint_prior_std: the model's largest standard deviation of each cost around 0, (C,), or one
            number for all: the unit in which agents model it. Without it, agents that keep costs in every
            round must be given it, and others take it from first plays or the reward's.
        constraint_noise_std, constraint_noise_bound: standard deviation of the noise on costs, and an almost
            sure bound on it, one number or (C,) each.
        budget: B, on the total cost of plays; the episode ends when the next play exceeds it.
        cost_min: positive lower bound on the cost of a play.
        known_costs: cost of each play, (N,), on a box a function of (context, arm) features,
            (n, dz + d) -> (n,); None if it must be learnt. For a batch (B, N), or B functions.
        play_costs: law of the costs of plays, for its prior and its noise.
        movement: law of the costs of moves from play to play, in units of the reward.
        may_change: whether the functions may change during a run; change-points are not published.
        volatile: whether arms may be unavailable in a round; "action_mask" in `info` then marks those that
            may be played in the next one.
        duel: whether an action is a pair of arms x, x', whose feedback is 1 where x won and 0 where x' did.
            Kernel, prior mean and norm are then those of the utilities f, and x wins with probability
            s(f(x) - f(x')), s the logistic function; chances by a matrix need not be so.
        query_times: start time of each round, (T,), where delays are in units of time; by default derived
            from the law of delays.
        safe_seed: arms known to satisfy all costs in every context and segment, (n,). Where arms are
            volatile, one of them is available in every round.
        lipschitz: L_j of each cost, (C,): |g_j(x) - g_j(x')| <= L_j |x - x'| in the kernel's units of
            (context, arm) features, of nearly all functions of its law.

    `noise_std`, `noise_bound`, `rkhs_bound` and `reward_lower_bound` may differ from trial to trial; they
    are then (B,) arrays in the setting of a batch, `safe_seed` and `lipschitz` (B, n) and (B, C).
    `Problem.trial_facts` names those that do: no other field is computed from the function that is played.
    """

    arms: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None
    contexts: Floats | None = None
    horizon: int = 1000
    kernel: Any = None
    prior_mean: Floats | float = 0.0
    noise_std: float | Floats | None = None
    noise_bound: float | Floats | None = None
    rkhs_bound: float | Floats | None = None
    reward_lower_bound: float | Floats | None = None
    max_delay: int = None  # type: ignore[assignment] (filled in)
    delay: Delay | None = None
    num_constraints: int = 0
    constraint_noise_std: float | Floats | None = 0.0
    query_times: Floats | None = None
    may_change: bool = False
    context_low: Floats | None = None
    context_high: Floats | None = None
    noise_profile: Floats | None = None
    misspecification: float | None = None
    corruption: float | None = None
    volatile: bool = False
    aggregated: bool = False
    safe_seed: Ints | None = None
    lipschitz: Floats | None = None
    constraint_noise_bound: float | Floats | None = None
    budget: float | None = None
    cost_min: float | None = None
    known_costs: Any = None
    play_costs: PlayCosts | None = None
    movement: Movement | None = None
    constraint_prior_std: float | Floats | None = None
    duel: bool = False
    outcome: OutcomeLaw | None = None
    latent_kernel: Any = None
    latent_bound: float | None = None

    def __post_init__(self) -> None:
        if self.arms is None and (self.low is None or self.high is None):
            raise ValueError("a setting needs arms, or low and high of a box; got neither")
        self._fill({name: plain(getattr(self, name)) for name in ("horizon", "max_delay", "num_constraints")})
        times = self.horizon, self.delay, self.max_delay, self.query_times
        self._fill(setting_checks.implied_by_delay(*times))
        self._fill(setting_checks.checked_facts(vars(self), setting_checks.FACTS))
        self._fill(setting_checks.implied_by_kernel(self.kernel, self.noise_std))
        self._fill(checked_places(self.arms, (self.low, self.high), self.contexts))
        self._fill(checked_context_box(self.arms, self.contexts, (self.context_low, self.context_high)))
        self._fill_sizes(OF_POINTS)
        if self.outcome is not None:
            self.outcome.require_possible("prior_mean", self.prior_mean)

    def _fill_sizes(self, names: Collection[str]) -> None:
        """Check these facts about the points against their number, and keep them as read-only arrays."""
        if self.arms is not None and "known_costs" in names:
            setting_checks.check_size(self.known_costs, self.decisions)
        if self.noise_profile is not None and "noise_profile" in names:
            self._fill({"noise_profile": setting_checks.checked_profile(self.noise_profile, self.decisions)})
        if "prior_mean" in names:
            if self.arms is not None:
                setting_checks.check_prior_mean(self.prior_mean, self.decisions)
            if np.ndim(self.prior_mean):
                self._fill({"prior_mean": fixed(np.array(self.prior_mean, dtype=np.float64))})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of a pickle or a copy, whose arrays are nobody's to write to either."""
        self._fill(fixed_arrays(state))

    def _fill(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def continuous(self) -> bool:
        """Return whether the decision set is a box."""
        return self.arms is None

    @property
    def dim(self) -> int:
        """Return the number of features d of an arm."""
        assert self.low is not None
        return len(self.low)

    @property
    def has_contexts(self) -> bool:
        """Return whether observations show a context."""
        return self.contexts is not None or self.context_low is not None

    @property
    def pairs_width(self) -> int:
        """Return the number of features dz + d of a (context, arm) pair."""
        return self.decisions.points.shape[1]

    @cached_property
    def decisions(self) -> Decisions:
        """Return arms and contexts as one indexed set; a box of either gives two corners."""
        arms, contexts = self.arms, self.contexts
        if arms is None:
            arms = np.array([self.low, self.high])
        if self.context_low is not None:
            contexts = np.array([self.context_low, self.context_high])
        return Decisions(arms, contexts, self.low, self.high, self.continuous)

    @cached_property
    def scaled_contexts(self) -> Floats:
        """Return the observation of each context, (Z, dz) in [0, 1] as float32; one 0 without contexts."""
        if self.contexts is None or self.contexts.shape[1] == 0:
            return fixed(np.zeros((1, 1), dtype=np.float32))
        low, span = self.contexts.min(axis=0), np.ptp(self.contexts, axis=0)
        return fixed(((self.contexts - low) / np.where(span > 0, span, 1.0)).astype(np.float32))

    def context_index(self, observation: Floats) -> Ints:
        """Return the indices of the nearest contexts to observations, (n, dz) -> (n,)."""
        shown = self.scaled_contexts
        if len(shown) == 1:
            return np.zeros(len(observation), dtype=np.int64)
        distance = ((np.asarray(observation)[:, None] - shown) ** 2).sum(axis=2)
        return distance.argmin(axis=1)

    def context_features(self, observation: Floats) -> Floats:
        """Return the features of observed contexts, (n, ...) -> (n, dz); those of a box are unscaled."""
        if self.context_low is not None:
            features = np.asarray(observation, dtype=np.float64)
            usable = features.shape[1:] == self.context_low.shape and np.isfinite(features).all()
            wanted = f"finite numbers of shape {(len(features), *self.context_low.shape)}"
            require(usable, "observation", wanted, observation)
            return features
        contexts = self.decisions.contexts
        assert contexts is not None
        return contexts[self.context_index(observation)]

    def to_point(self, action: Any) -> Floats:
        """Return features of actions: arms by index, or [-1, 1]^d mapped to the box; (...,) -> (..., d)."""
        if self.arms is not None:
            return self.arms[np.asarray(action)]
        low, high = self.decisions.box
        return low + (high - low) * (np.asarray(action, dtype=np.float64) + 1.0) / 2.0

    def to_action(self, point: Any) -> Any:
        """Return the action of a point, (..., d) -> (...): on a finite set, the index of the nearest arm."""
        points = np.asarray(point, dtype=np.float64)
        if self.arms is not None:
            return ((points[..., None, :] - self.arms) ** 2).sum(axis=-1).argmin(axis=-1)
        low, high = self.decisions.box
        return 2.0 * (points - low) / np.where(high > low, high - low, 1.0) - 1.0

    def of_trial(self, trial: int) -> Self:
        """Return the setting of one trial of a batch."""
        return self._with({name: _pick(name, getattr(self, name), trial) for name in PER_TRIAL})

    def with_facts(self, **facts: Any) -> Self:
        """Return the setting with other values; arrays of the size of the decision set are shared.

        Where arms, contexts, bounds or times change, it is made anew: what follows from them changes too, and
        a fact of another size is an error.
        """
        if facts.keys() & {*PLACES, *TIMES}:
            return replace(self, **facts)
        other = self._with(facts)
        other._fill(setting_checks.checked_facts(vars(other), facts))
        if "kernel" in facts:
            other._fill(setting_checks.implied_by_kernel(other.kernel, other.noise_std))
        other._fill_sizes(facts)
        return other

    def copied(self, values: Mapping[str, Any] = MappingProxyType({})) -> Self:
        """Return a copy with these values, unchecked, and own kernels, which an agent may fit in place."""
        return self._with({**{name: deepcopy(getattr(self, name)) for name in KERNELS}, **values})

    def _with(self, values: Mapping[str, Any]) -> Self:
        """Return a copy with other values; its arrays are shared, since nobody can write to them."""
        other = object.__new__(type(self))
        vars(other).update({**vars(self), **values})
        return other

    def __repr__(self) -> str:
        return f"Setting({', '.join(f'{name}={text}' for name, text in self._given.items())})"

    def _repr_html_(self) -> str:
        return html_facts("Setting", self._given)

    @property
    def _given(self) -> dict[str, str]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: brief(value) for name, value in values.items() if value is not None}
