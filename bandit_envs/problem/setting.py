"""What a learner may know about a problem before it plays."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import is_count, require, require_switch, written_as
from bandit_envs.basics.notebook import brief, html_facts
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.white import require_same_noise, split_white
from bandit_envs.laws.by_name import parse
from bandit_envs.laws.delays import LAWS, Delay
from bandit_envs.laws.play_costs import PlayCosts
from bandit_envs.problem.decisions import Decisions, corner
from bandit_envs.problem.told import (
    check_budget,
    check_counts,
    check_deviations,
    check_kernel_kind,
    check_known_costs,
    check_least,
    check_prior_mean,
    check_scales,
    check_size,
    check_times,
    checked_arms,
    checked_profile,
    checked_slopes,
)

PER_TRIAL = (
    *("noise_std", "noise_bound", "rkhs_bound", "reward_lower_bound"),
    *("safe_seed", "lipschitz", "known_costs"),
)
OF_COSTS = ("safe_seed", "lipschitz")  # several numbers a trial
SLACK = 1e-6  # how far rounding may carry an action out of the box [-1, 1]


@dataclass(frozen=True, eq=False)
class Setting:
    """The published part of a problem. Points are in the kernel's units; actions are the environment's.

    People without an environment build one themselves: `Setting(arms=grid, horizon=100)`.

    Args:
        arms: features of the arms, (A, d); None on a box.
        low, high: bounds of the arms or the box, (d,); needed where `arms` is None.
        contexts: features of the contexts, (Z, dz); None without contexts, or where they are any of a box.
        context_low, context_high: bounds of contexts that are no finite set, (dz,). The observation is then
            the context itself, in the kernel's units; arms must be a box too.
        horizon: number of rounds T.
        kernel: the model's of the reward, a scikit-learn kernel over (context, arm) features; None if it is
            withheld. A WhiteKernel that is a term of its sum is taken out and is `noise_std`. Costs that are
            drawn, not given, share the kernel unless they have one of their own.
        prior_mean: the model's mean of the reward at each point, (N,), or one number.
        noise_std: standard deviation of the reward noise, R of the papers; None if withheld.
        noise_profile: deviation of the noise at each point in units of `noise_std`, (N,), in (0, 1]; None
            where it is the same everywhere or not known. `info` may then say "feedback_std" of what arrives.
        misspecification: eps: the reward is at most so far from a function of the kernel's space, whose norm
            `rkhs_bound` bounds; None if that is not said or it is one.
        corruption: C: all that is added to rewards by an attacker is at most so much; None for none.
        aggregated: whether `info` tells the sum of what arrives in a round, and not which rounds earned it.
        noise_bound: almost sure bound on the noise, None if there is none.
        rkhs_bound: B with ||f|| <= B, None if unknown.
        reward_lower_bound: what f is never or seldom below, a constant of its law; None if unknown.
        max_delay: feedback later than this many rounds never arrives; default what the law of delays says
            for rounds that start at the query times, 0 without one.
        delay: law of the delays, or its description, {"law": "poisson", "mean": 10}; None if it is withheld.
            Its quantiles are in rounds, or in units of time where it has query times.
        num_constraints: C.
        constraint_noise_std: standard deviation of the noise on costs.
        budget: B, what plays may cost together; the episode ends when the next one does not fit. None for no
            end but the horizon.
        cost_min: what no play costs less than, positive; None where it is not known.
        known_costs: what each play costs, (N,), on a box a function of (context, arm) features,
            (n, dz + d) -> (n,); None where that is to be learnt. Of a batch (B, N), or B functions.
        play_costs: law of what plays cost, for its prior and its noise; None if it is withheld.
        may_change: whether the functions may change during a run; when they do is not published.
        volatile: whether arms may be missing from a round; "action_mask" in `info` then says which may be
            played in the next one.
        query_times: when each round starts, (T,), where delays are in units of time; else None. Default what
            the law of delays says.
        safe_seed: arms whose costs are known to be kept in every context and segment, (n,); None if none is.
            Where arms are volatile, one of them is there in every round.
        lipschitz: L_j of each cost, (C,): |g_j(x) - g_j(x')| <= L_j |x - x'| in the kernel's units of
            (context, arm) features; None if unknown.
        constraint_noise_bound: almost sure bound on the noise on costs, None if there is none.

    `noise_std`, `noise_bound`, `rkhs_bound` and `reward_lower_bound` may differ from trial to trial; they
    are then (B,) arrays in the setting of a batch, `safe_seed` and `lipschitz` (B, n) and (B, C), and
    `known_costs` as said above. `Problem.trial_facts` says where they do: nothing else is computed from the
    function that will be played.
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
    constraint_noise_std: float | None = 0.0
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
    constraint_noise_bound: float | None = None
    budget: float | None = None
    cost_min: float | None = None
    known_costs: Any = None
    play_costs: PlayCosts | None = None

    def __post_init__(self) -> None:
        if self.arms is None and (self.low is None or self.high is None):
            raise ValueError("a setting needs arms, or low and high of a box; got neither")
        self._take_in_delay()
        self._check_model()
        self._take_out_white()
        for name, value in {**self._geometry(), **self._context_box()}.items():
            object.__setattr__(self, name, value)
        if self.arms is not None:
            check_prior_mean(self.prior_mean, self.decisions)
            check_size(self.known_costs, self.decisions)
        if self.noise_profile is not None:
            object.__setattr__(self, "noise_profile", checked_profile(self.noise_profile, self.decisions))
        if np.ndim(self.prior_mean):
            object.__setattr__(self, "prior_mean", np.array(self.prior_mean, dtype=np.float64))
            self.prior_mean.setflags(write=False)  # type: ignore[union-attr]

    def _take_in_delay(self) -> None:
        """What a law of delays says of the largest delay and of the times, where they are not given."""
        require(is_count(self.horizon), "horizon", "a positive integer", self.horizon)
        own = self.delay is None or isinstance(self.delay, Delay)
        law, given = self.delay if own else parse("delay", self.delay, LAWS), self.query_times
        check_times(given)
        times = None if law is None else law.query_times(self.horizon)
        if law is not None and times is None and given is not None:
            raise ValueError(f"delay must be in units of time, as query_times are, got {law!r}")
        taken: dict[str, Any] = {"delay": law, "query_times": times if given is None else given}
        if self.max_delay is None:
            taken["max_delay"] = 0 if law is None else law.window(self.horizon, given)
        for name, value in taken.items():
            object.__setattr__(self, name, value)

    def _check_model(self) -> None:
        check_counts(max_delay=self.max_delay, num_constraints=self.num_constraints)
        check_scales(noise_bound=self.noise_bound, rkhs_bound=self.rkhs_bound)
        check_scales(constraint_noise_bound=self.constraint_noise_bound)
        for name, check in ((OF_COSTS[0], self._checked_seed), (OF_COSTS[1], self._checked_lipschitz)):
            object.__setattr__(self, name, check(getattr(self, name)))
        check_budget(self.budget, self.cost_min)
        check_known_costs(self.known_costs, self.continuous)
        check_scales(misspecification=self.misspecification, corruption=self.corruption)
        check_deviations(noise_std=self.noise_std, constraint_noise_std=self.constraint_noise_std)
        check_kernel_kind(self.kernel)
        require_switch("may_change", self.may_change)
        require_switch("volatile", self.volatile)
        still = not (self.volatile and self.arms is None)
        require(still, "volatile", "False on a box, which has no arms", self.volatile)
        require_switch("aggregated", self.aggregated)
        check_least(self.reward_lower_bound)

    def _checked_seed(self, seed: Any) -> Ints | None:
        known = seed is None or (self.arms is not None and self.num_constraints > 0)
        require(known, "safe_seed", "None without constraints and on a box", seed)
        return None if seed is None else checked_arms("safe_seed", seed, len(self.arms))  # type: ignore[arg-type]

    def _checked_lipschitz(self, slopes: Any) -> Floats | None:
        return None if slopes is None else checked_slopes("lipschitz", slopes, self.num_constraints)

    def _take_out_white(self) -> None:
        """What a WhiteKernel says of the noise is the noise, not the functions' covariance."""
        kernel, white = split_white(self.kernel)
        if white:
            require_same_noise("noise_std", self.noise_std, float(np.sqrt(white)))
            object.__setattr__(self, "kernel", kernel)
            object.__setattr__(self, "noise_std", float(np.sqrt(white)))

    def _geometry(self) -> dict[str, Any]:
        anchors = corner("low", self.low) if self.arms is None else self.arms
        decisions = Decisions(anchors, self.contexts, self.low, self.high)
        arms = None if self.arms is None else decisions.arms
        contexts = None if self.contexts is None else decisions.contexts
        found = {"arms": arms, "low": decisions.low, "high": decisions.high, "contexts": contexts}
        return found if self.arms is None else {**found, "decisions": decisions}  # as the property would be

    def _context_box(self) -> dict[str, Floats | None]:
        low, high = self.context_low, self.context_high
        if low is None and high is None:
            return {}
        usable = self.arms is None and self.contexts is None and low is not None and high is not None
        expected = "both given, with neither arms nor contexts"
        require(usable, "context_low and context_high", expected, (low, high))
        with written_as({"low": "context_low", "high": "context_high"}):
            box = Decisions(corner("low", low), None, low, high)
        return {"context_low": box.low, "context_high": box.high}

    @property
    def continuous(self) -> bool:
        """Whether the decision set is a box."""
        return self.arms is None

    @property
    def dim(self) -> int:
        """Number of features d of an arm."""
        assert self.low is not None
        return len(self.low)

    @property
    def has_contexts(self) -> bool:
        """Whether observations show a context that matters."""
        return self.contexts is not None or self.context_low is not None

    @property
    def pairs_width(self) -> int:
        """Number of features dz + d of a (context, arm) pair."""
        return self.decisions.points.shape[1]

    @cached_property
    def decisions(self) -> Decisions:
        """Arms and contexts as one indexed set; of a box of either, two corners."""
        anchors = np.vstack([self.low, self.high]) if self.arms is None else self.arms  # type: ignore[list-item]
        contexts = self.contexts
        if self.context_low is not None:
            contexts = np.vstack([self.context_low, self.context_high])  # type: ignore[list-item]
        return Decisions(anchors, contexts, self.low, self.high, self.continuous)

    @cached_property
    def scaled_contexts(self) -> Floats:
        """What observations show of each context, (Z, dz) in [0, 1] as float32; one 0 without contexts."""
        if self.contexts is None or self.contexts.shape[1] == 0:
            return np.zeros((1, 1), dtype=np.float32)  # type: ignore[return-value]
        low, span = self.contexts.min(axis=0), np.ptp(self.contexts, axis=0)
        scaled = (self.contexts - low) / np.where(span > 0, span, 1.0)
        return scaled.astype(np.float32)  # type: ignore[return-value]

    def context_index(self, observation: Floats) -> Ints:
        """Indices of the observed contexts, the nearest ones, (n, dz) -> (n,)."""
        if len(self.scaled_contexts) == 1:
            return np.zeros(len(observation), dtype=np.int64)
        distance = ((np.asarray(observation)[:, None] - self.scaled_contexts) ** 2).sum(axis=2)
        return distance.argmin(axis=1)

    def context_features(self, observation: Floats) -> Floats:
        """Features of the observed contexts, (n, ...) -> (n, dz); a box of contexts is observed as it is."""
        if self.context_low is None:
            contexts = self.decisions.contexts
            assert contexts is not None
            return contexts[self.context_index(observation)]
        features = np.asarray(observation, dtype=np.float64)
        wanted = f"finite numbers of shape {(len(features), len(self.context_low))}"
        usable = features.shape[1:] == self.context_low.shape and np.isfinite(features).all()
        require(usable, "observation", wanted, observation)
        return features

    def to_point(self, action: Any) -> Floats:
        """Features of actions: arms by index, or [-1, 1]^d mapped to the box; (...,) -> (..., d)."""
        if self.arms is not None:
            return self.arms[np.asarray(action)]
        assert self.low is not None
        assert self.high is not None
        return self.low + (self.high - self.low) * (np.asarray(action, dtype=np.float64) + 1.0) / 2.0

    def to_action(self, point: Any) -> Any:
        """The inverse of `to_point`; on a finite set, the index of the nearest arm, (..., d) -> (...)."""
        point = np.asarray(point, dtype=np.float64)
        if self.arms is not None:
            return ((point[..., None, :] - self.arms) ** 2).sum(axis=-1).argmin(axis=-1)
        assert self.low is not None
        assert self.high is not None
        return 2.0 * (point - self.low) / np.where(self.high > self.low, self.high - self.low, 1.0) - 1.0

    def of_trial(self, trial: int) -> Setting:
        """The setting of one trial of a batch."""
        return self.with_facts(**{name: _pick(name, getattr(self, name), trial) for name in PER_TRIAL})

    def with_facts(self, **facts: Any) -> Setting:
        """The same setting with other numbers; what is of the size of the decision set is shared."""
        other = copy(self)
        for name, value in facts.items():
            object.__setattr__(other, name, value)
        other._check_model()
        return other

    def __repr__(self) -> str:
        return f"Setting({', '.join(f'{name}={text}' for name, text in self._told.items())})"

    def _repr_html_(self) -> str:
        return html_facts("Setting", self._told)

    @property
    def _told(self) -> dict[str, str]:
        """What is not withheld, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: brief(value) for name, value in values.items() if value is not None}


def batch_settings(settings: list[Setting]) -> Setting:
    """Return the setting of a batch: scalars where the trials agree, else (B,) arrays."""
    return settings[0].with_facts(**{name: _merge(settings, name) for name in PER_TRIAL})


def _merge(settings: list[Setting], name: str) -> Any:
    values = [getattr(setting, name) for setting in settings]
    if name == "known_costs":
        return None if values[0] is None else _together(values)
    alike = all(np.array_equal(value, values[0]) for value in values)
    return values[0] if alike else np.array(values, dtype=np.int64 if name == "safe_seed" else np.float64)


def _together(costs: list[Any]) -> Any:
    """Known costs of the trials of a batch: (B, N), or B functions."""
    return tuple(costs) if callable(costs[0]) else np.stack(costs)


def _pick(name: str, value: Any, trial: int) -> Any:
    if name == "known_costs":
        return value[trial] if isinstance(value, tuple) or np.ndim(value) == 2 else value
    if not isinstance(value, np.ndarray):
        return value
    if name in OF_COSTS:
        return value if value.ndim == 1 else value[trial]
    return float(value[trial])
