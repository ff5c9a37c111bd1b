"""A problem is a frozen composition of laws; a trial is one draw of all of them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.notebook import brief, html_facts
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws import changes
from bandit_envs.laws.changes import change_points_of
from bandit_envs.laws.functions import Drawn
from bandit_envs.problem.checks import check_problem, check_seed
from bandit_envs.problem.composition import Composition
from bandit_envs.problem.drifting import Course, Playback
from bandit_envs.problem.safety import MARGIN, TRIES, lipschitz, safe_arm
from bandit_envs.problem.setting import Setting
from bandit_envs.problem.truth import Extremes, Truth, best_rates, of_box
from bandit_envs.problem.volatile import Bits, Roster, roster_of

ROLES = (
    "functions",
    "noise",
    "delay",
    "context",
    "changes",
    "constraint_noise",
    "corruption",
    "availability",
    "cost_noise",
)
OF_COSTS = 10**6  # a spawn key of the functions' seed that nothing else has
MOST_FOUND = 1024  # trials on a box whose extremes are kept


class Trial(NamedTuple):
    """Everything random about one run, drawn before it starts; playing it is looking it up."""

    means: Any  # (V, 1 + C, N) reward, then costs (feasible when <= 0), of each version, by its index
    between: list[list[Callable[[Floats], Floats]]]  # the same functions on a box; empty on a finite set
    optimum: Floats  # (T,) largest mean reward of what may be played and is feasible in the round
    worst: Floats  # (T,) smallest mean reward of what may be played
    segment: Ints  # (T,) how many changes there were so far
    version: Ints  # (T,) which functions hold: the segment's, or with drift the round's own
    context: Ints  # (T + 1,)
    noise: Floats  # (T, 1 + C)
    attack: Floats  # (T,) what would be added to each reward while the budget lasts, if the play is struck
    bits: Bits  # (T + 1, ...) which arms may be played, see `volatile.mask_of`; (T + 1, 0) where all may
    wait: Floats  # (T,) for feedback, infinite if it never arrives, before the played arm stretches it
    play_costs: Drawn  # of each point, the same in all rounds
    cost_noise: Floats  # (T,) standard normals
    rate: Floats  # (T,) largest mean reward a unit of cost of the same, 0 if that is negative
    setting: Setting


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Composition):
    """A Gaussian-process bandit; absent features are neutral laws, so every combination works.

    Args:
        decisions: arms or box, and contexts.
        reward: law of the reward function.
        kernel: the model's kernel over (context, arm) features, a scikit-learn object.
        noise: law of the reward noise.
        constraints: laws of the cost functions; an arm is feasible where all are <= 0.
        feasibility: what shifts the drawn costs of a segment; by default, nothing.
        constraint_noise: law of the noise on each cost; of a stated deviation, not of a share of the range.
        delay, max_delay: law of the delays, and the delay beyond which feedback never arrives
            (default: the smallest k with P(d > k) < 1e-6, at most horizon - 1).
        aggregated: feedback is anonymous: `info` has one slot, of step -1, with the sum of what arrives.
        context, changes: laws of the contexts' sequence and of the change-points.
        drift: how functions change within a segment, by default not at all.
        corruption: who changes rewards after they are drawn, by default nobody; its budget is published.
        availability: which arms may be played in a round, by default all.
        play_costs: law of what plays cost, and the budget that ends a trial; by default nothing is spent.
        horizon: rounds a trial.
        prior_mean: the model's mean of the reward, one number or (N,).
        rkhs_bound: what is published of ||f||: "true" (the exact norm where one is known), "paper"
            (B^2 = f' K f over the points, as Chowdhury & Gopalan 2017 print it, f and K in units in which the
            prior variances are 1 on average, as theirs are), a number, or None.
        publish_model: whether learners are told prior, noise, bound and the law of the delays. Withheld means
            None (a prior mean of 0); `max_delay` and query times, by which feedback is read, are told anyway.
        function_seed: freezes the functions (and so the optima), not noise, delays or contexts.
        safe_seed: publish an arm whose costs are at most -0.1 prior deviations in every context and segment,
            and with the model how steep each cost is. Costs are drawn again until there is such an arm.
    """

    def __post_init__(self) -> None:
        check_problem(self)

    def __repr__(self) -> str:
        return f"Problem({', '.join(f'{name}={text}' for name, text in self.composed.items())})"

    def _repr_html_(self) -> str:
        return html_facts(f"Problem {self.name}", self.composed)

    @property
    def composed(self) -> dict[str, str]:
        """What it is composed of, by name; features that it is without are left out."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        absent = {each.name for each in fields(self) if given[each.name] is each.default}
        return {name: brief(value) for name, value in given.items() if name not in absent}

    def draw(self, entropy: int, function_seed: int | None = None) -> Trial:
        """Draw one trial.

        Every role has its own stream: changing one law leaves the draws of the others as they were.

        Args:
            entropy: seeds the trial.
            function_seed: seeds the functions instead of `entropy`; default, the problem's own.
        """
        seeds = {role: np.random.SeedSequence(entropy, spawn_key=(i,)) for i, role in enumerate(ROLES)}
        frozen = self.function_seed if function_seed is None else function_seed
        check_seed(frozen)
        if frozen is not None:
            seeds["functions"] = np.random.SeedSequence(frozen)
        rngs = {role: np.random.default_rng(seed) for role, seed in seeds.items() if role != "functions"}

        segment = self.changes.draw(self.horizon, rngs["changes"])
        context = self.context.draw(self.horizon + 1, self.decisions.num_contexts, rngs["context"])
        truth = self._truth(segment, seeds["functions"], frozen)
        version = np.arange(self.horizon) if self.drifts else segment
        costs = self._play_costs(seeds["functions"])
        roster = self._roster(truth, costs, version, context, rngs["availability"])
        return Trial(
            means=Playback(truth.means) if self.drifts else truth.means,
            between=[[f.between for f in row if f.between] for row in truth.drawn]
            if self.decisions.continuous
            else [],
            optimum=roster.optimum,
            worst=roster.worst,
            segment=segment,
            version=version,
            context=context,
            noise=self._noise(truth.extent, rngs),
            attack=self.corruption.draw(self.horizon, rngs["corruption"]),
            bits=roster.bits,
            wait=self.delay.draw(self.horizon, rngs["delay"]),
            play_costs=costs,
            cost_noise=rngs["cost_noise"].standard_normal(self.horizon),
            rate=roster.rate,
            setting=self.setting(truth, costs),
        )

    @property
    def trial_facts(self) -> tuple[str, ...]:
        """What of a trial's setting is about its own functions; all else holds whatever is drawn.

        Chowdhury & Gopalan (2017) tell the learner two numbers of each function: noise is a share of its
        range, and B is its norm, from which the bound -B s follows. Nothing else that is published is
        computed from the truth. Without the model these are withheld as well. A safe seed is one more, which
        no agent could do without that must keep costs in every round, and with it how steep costs are.
        """
        return (*self._facts_of_reward, *self._facts_of_costs, *self._facts_of_play_costs)

    @property
    def _facts_of_costs(self) -> tuple[str, ...]:
        if not self.safe_seed or all(law.is_fixed for law in self.constraints):
            return ()
        return ("safe_seed", "lipschitz") if self.publish_model else ("safe_seed",)

    @property
    def _facts_of_play_costs(self) -> tuple[str, ...]:
        return ("known_costs",) if self.play_costs.known and not self.play_costs.is_fixed else ()

    @property
    def _facts_of_reward(self) -> tuple[str, ...]:
        if not self.publish_model or self.reward.is_fixed:
            return ()
        norm_is_drawn = {"true": self.reward.norm_is_drawn, "paper": True}.get(str(self.rkhs_bound), False)
        facts = () if self.noise.share is None else ("noise_std", "noise_bound")
        return facts + (("rkhs_bound", "reward_lower_bound") if norm_is_drawn else ())

    def setting(self, truth: Truth | None = None, costs: Drawn | None = None) -> Setting:
        """What a learner may know; without a draw, what holds for all trials."""
        kernel = deepcopy(self._published.kernel)  # an agent may fit it in place
        facts = self._facts(truth) if truth else {}
        if costs is not None and self.play_costs.known:
            facts["known_costs"] = costs.between if self.decisions.continuous else costs.values
        return self._published.with_facts(kernel=kernel, **facts)

    @cached_property
    def _published(self) -> Setting:
        """What holds for all trials."""
        publish, decisions = self.publish_model, self.decisions
        return Setting(
            arms=None if decisions.continuous else decisions.arms,
            low=decisions.low,
            high=decisions.high,
            contexts=decisions.contexts if decisions.num_contexts > 1 else None,
            horizon=self.horizon,
            kernel=deepcopy(self.kernel) if publish else None,
            prior_mean=self.prior_mean if publish else 0.0,
            misspecification=self.reward.misspecification if publish else None,
            corruption=(self.corruption.budget or None) if publish else None,
            noise_profile=self._published_profile(),
            max_delay=self.window,
            aggregated=self.aggregated,
            delay=self.delay if publish else None,
            num_constraints=len(self.constraints),
            constraint_noise_std=self.constraint_noise.stated_std if publish else None,
            constraint_noise_bound=self._cost_noise_bound() if publish else None,
            query_times=self.delay.query_times(self.horizon),
            may_change=self.drifts or not isinstance(self.changes, changes.Stationary),
            volatile=self.volatile,
            budget=None if self.play_costs.is_free else self.play_costs.budget,
            cost_min=None if self.play_costs.is_free else self.play_costs.least,
            play_costs=None if self.play_costs.is_free or not publish else self.play_costs,
            **self._facts(None),
        )

    def _play_costs(self, seed: np.random.SeedSequence) -> Drawn:
        """What plays cost in a trial, from a stream of its own."""
        of_costs = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, OF_COSTS))
        return self.play_costs.draw(self.gram, np.random.default_rng(of_costs))

    def _rates(self, truth: Truth, costs: Drawn, version: Ints, context: Ints) -> Floats:
        """What a unit of cost earns at best in each round, (T,)."""
        if self.play_costs.is_free:
            return np.zeros(self.horizon)
        truth = truth._replace(means=Playback(truth.means)) if self.drifts else truth
        return best_rates(truth, costs, self.decisions)[version, context]

    def _published_profile(self) -> Floats | None:
        """How the noise differs from point to point, where the law tells and there are points, (N,)."""
        decisions = self.decisions
        if not (self.publish_model and self.noise.tells_shape) or decisions.continuous:
            return None
        return np.tile(self.noise.shape(decisions.unit_arms), decisions.num_contexts)

    def _cost_noise_bound(self) -> float | None:
        """Almost sure bound on the noise on costs, where there are costs and it has one."""
        bound, std = self.constraint_noise.relative_bound, self.constraint_noise.stated_std
        return None if bound is None or std is None or not self.constraints else bound * std

    def _facts(self, truth: Truth | None) -> dict[str, Any]:
        """What may be said of the functions that were drawn, or of all that can be."""
        safe = self._told_of_costs(truth.means[:, 1:]) if truth and self.safe_seed else {}
        return {**self._told_of_reward(truth), **safe}

    def _told_of_costs(self, costs: Floats) -> dict[str, Any]:
        """A safe arm, and how steep costs are, (V, C, N)."""
        seed = np.array([safe_arm(costs, self.decisions).arm])
        steep = {"lipschitz": lipschitz(costs, self.decisions.points)} if self.publish_model else {}
        return {"safe_seed": seed, **steep}

    def _told_of_reward(self, truth: Truth | None) -> dict[str, Any]:
        rewards = [functions[0] for functions in truth.drawn] if truth else []
        std = self.noise.scale(truth.extent[:, 0]) if truth else self.noise.stated_std
        norm, bound = self._published_bound(rewards), self.noise.relative_bound
        if not self.publish_model:
            return {"reward_lower_bound": self.reward.least}
        return {
            "noise_std": std,
            "noise_bound": None if bound is None or std is None else bound * std,
            "rkhs_bound": norm,
            "reward_lower_bound": self.reward.lower_bound(self.gram, self.prior_mean, norm),
        }

    @cached_property
    def _kept(self) -> dict[Any, Truth]:
        """The last functions that were drawn to be met again, with their extremes."""
        return {}

    @cached_property
    def _found(self) -> dict[Any, Extremes]:
        """Extremes on a box by seed: a search is slow, and every agent meets the same trials."""
        return {}

    def _truth(self, segment: Ints, seed: np.random.SeedSequence, frozen: int | None) -> Truth:
        """The functions and their extremes; those that every reset meets again are made once."""
        fixed = not self.drifts and all(law.is_fixed for law in (self.reward, *self.constraints))
        key = (tuple(change_points_of(segment)) if self.drifts else segment[-1], None if fixed else frozen)
        if key not in self._kept:
            self._kept.clear()
            truth = self._course(segment, seed).truth() if self.drifts else self._by_segment(segment, seed)
            if not fixed and frozen is None:
                return truth
            self._kept[key] = truth
        return self._kept[key]

    def _roster(
        self, truth: Truth, costs: Drawn, version: Ints, context: Ints, rng: np.random.Generator
    ) -> Roster:
        """What may be played in each round, and what is best of it."""
        if not self.volatile:
            at = version, context[:-1]
            none = np.empty((len(context), 0), np.uint8)
            return Roster(none, truth.optimum[at], truth.worst[at], self._rates(truth, costs, *at))
        means = Playback(truth.means) if self.drifts else truth.means
        price = None if self.play_costs.is_free else costs.values
        kept = safe_arm(truth.means[:, 1:], self.decisions).arm if self.safe_seed else None
        return roster_of(self.availability, means, version, context, self.decisions, rng, price, kept)

    def _by_segment(self, segment: Ints, seed: np.random.SeedSequence) -> Truth:
        drawn = self._functions(int(segment[-1]) + 1, seed)
        return Truth.of(
            drawn, self.decisions, self._on_box(drawn, seed) if self.decisions.continuous else None
        )

    def _on_box(self, drawn: list[list[Drawn]], seed: np.random.SeedSequence) -> Extremes:
        """The extremes of functions on a box, sought once."""
        key = (seed.entropy, seed.spawn_key, len(drawn))
        if key not in self._found:
            if len(self._found) == MOST_FOUND:
                self._found.pop(next(iter(self._found)))  # the oldest
            self._found[key] = of_box(drawn, self.decisions)
        return self._found[key]

    def _course(self, segment: Ints, seed: np.random.SeedSequence) -> Course:
        laws = [(self.reward, self.drift), *((law, self.drift.of_costs) for law in self.constraints)]
        anew = np.diff(segment, prepend=-1) > 0
        return Course(laws, self.feasibility, self.gram, self.decisions, anew, seed)

    def _functions(self, segments: int, seed: np.random.SeedSequence) -> list[list[Drawn]]:
        """The reward and the costs of each segment, every law from its own stream."""
        of_costs = list(map(np.random.default_rng, seed.spawn(len(self.constraints))))
        of_reward = np.random.default_rng(seed)
        rewards = [self.reward.draw(self.gram, of_reward) for _ in range(segments)]
        draw = self._safe_costs if self.safe_seed else self._all_costs
        return [[reward, *costs] for reward, costs in zip(rewards, draw(segments, of_costs), strict=True)]

    def _all_costs(self, segments: int, rngs: list[np.random.Generator]) -> list[list[Drawn]]:
        return [self._costs(rngs) for _ in range(segments)]

    def _safe_costs(self, segments: int, rngs: list[np.random.Generator]) -> list[list[Drawn]]:
        """The costs of all segments, drawn again until an arm keeps them everywhere."""
        least = MARGIN * float(np.sqrt(self.gram.diagonal.max()))
        tries = 1 if all(law.is_fixed for law in self.constraints) else TRIES
        for _ in range(tries):
            drawn = self._all_costs(segments, rngs)
            costs = np.array([[cost.values for cost in row] for row in drawn])
            if safe_arm(costs, self.decisions).worst <= -least:
                return drawn
        raise ArgumentError(
            "safe_seed",
            f"must be False here: in {tries} draws of the costs no arm had costs of at most {-least:.3g} in "
            "all contexts and segments, got True; let more arms be feasible, or fewer segments be drawn",
        )

    def _costs(self, rngs: list[np.random.Generator]) -> list[Drawn]:
        """The costs of one segment."""
        drawn = [law.draw(self.gram, rng) for law, rng in zip(self.constraints, rngs, strict=True)]
        return self.feasibility.shift(drawn, self.decisions.num_contexts)

    def _published_bound(self, rewards: list[Drawn]) -> float | None:
        if not isinstance(self.rkhs_bound, str):
            return self.rkhs_bound
        if self.rkhs_bound == "paper":
            variance = float(self.gram.diagonal.mean())
            norms = [float(np.sqrt(f.values @ self.gram.dense @ f.values)) / variance for f in rewards]
        else:
            norms = [f.norm for f in rewards if f.norm is not None]
        return max(norms) if norms and len(norms) == len(rewards) else None

    def _noise(self, extent: Floats, rngs: dict[str, np.random.Generator]) -> Floats:
        columns = [self.noise.scale(extent[:, 0]) * self.noise.draw(self.horizon, rngs["noise"])]
        for c in range(1, extent.shape[1]):
            scale = self.constraint_noise.scale(extent[:, c])
            columns.append(scale * self.constraint_noise.draw(self.horizon, rngs["constraint_noise"]))
        return np.stack(columns, axis=1)
