"""Define a problem as a frozen composition of laws, which draws trials."""

from dataclasses import dataclass, fields
from functools import cached_property, partial
from importlib import import_module
from typing import Any

import numpy as np

from bandit_envs.basics.arguments import plain, require_seed
from bandit_envs.basics.notebook import brief, html_facts
from bandit_envs.basics.types import Floats
from bandit_envs.laws.changes import Stationary
from bandit_envs.laws.contexts import UniformContexts
from bandit_envs.laws.corruption import UNTOUCHED
from bandit_envs.laws.delays import Immediate
from bandit_envs.laws.noise import Noise, NoNoise
from bandit_envs.problem import publishing
from bandit_envs.problem.composition import Composition, check_problem, check_seed
from bandit_envs.problem.drawn_functions import UNUSED, DrawnFunctions, Playback, safe_seed
from bandit_envs.problem.setting import Setting
from bandit_envs.problem.trial import Trial, roster_of
from bandit_envs.problem.truth import Truth

ROLES = (
    *("functions", "noise", "delay", "context", "changes", "constraint_noise"),
    *("corruption", "availability", "cost_noise"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Composition):
    """Define a Gaussian-process bandit; absent features are neutral laws, so every combination works.

    Args:
        decisions: arms or box, and contexts.
        reward: law of the reward function.
        kernel: the model's kernel over (context, arm) features, a scikit-learn object.
        noise: law of the reward noise.
        constraints: laws of the cost functions; an arm is feasible where all are <= 0.
        feasibility: shifts the drawn costs of a segment; by default, it does not.
        constraint_noise: law of the noise on each cost, with a stated std, not a share of the range.
        delay, max_delay: law of the delays, and the delay beyond which feedback is never delivered
            (default: the smallest k with P(d > k) < 1e-6, at most horizon - 1).
        aggregated: whether feedback is anonymous: `info` has one slot, of step -1, with the delivered sum.
        context, changes: laws of the contexts' sequence and of the change-points.
        drift: law by which functions change within a segment, by default not at all.
        corruption: attack on rewards after they are drawn, by default none; its budget is published.
        availability: law of the arms that may be played in a round, by default all.
        play_costs: law of the costs of plays, and the budget that ends a trial; by default plays are free.
        movement: law of the costs of moves from play to play, by default free; not with several contexts.
        horizon: rounds a trial.
        prior_mean: the model's mean of the reward, one number or (N,).
        rkhs_bound: the published bound on ||f||: "true" (the exact norm where one is known), "paper"
            (B^2 = f' K f over the points, as Chowdhury & Gopalan 2017 print it, f and K in units in which the
            prior variances are 1 on average, as theirs are), a number, or None.
        publish_model: whether prior, noise, bound and the law of the delays are published. Withheld fields
            are None (the prior mean is 0); `max_delay` and query times are always given, to read feedback.
        function_seed: freezes the functions (and so the optima), not noise, delays or contexts.
        safe_seed: publish an arm drawn among all whose costs are at most -0.1 prior stds in every context
            and segment; "safest" publishes the one with the most slack. With the model a bound on the slopes
            of each cost's law is published too. Costs are redrawn until there is such an arm.
        long_term: whether costs are to be kept on average, and not in each round; evaluators then order
            agents by the violation for which slack makes up.
    """

    @classmethod
    def from_table(cls, file: Any, **columns: Any) -> "Problem":
        """Return the problem of a table of your own: a CSV or Parquet file, a data frame, or columns by name.

        The arguments are those of `bandit_envs.problems.table.table`.

        Example:
            >>> rows = {"dose": [1, 1, 2, 2], "yield": [3.0, 3.2, 4.1, 3.9]}
            >>> Problem.from_table(rows, arms=["dose"], reward="yield", horizon=10).draw(0).optimum[0].item()
            4.0
        """
        from_columns = import_module("bandit_envs.problems.table").table  # a layer above, which uses this one
        return from_columns(file=file, **columns)

    def __post_init__(self) -> None:
        check_problem(self)
        for name in ("horizon", "max_delay", "function_seed"):
            object.__setattr__(self, name, plain(getattr(self, name)))
        size = self.decisions.num_arms, len(self.decisions.points)
        object.__setattr__(self, "reward", self.reward.sized(*size))
        object.__setattr__(self, "constraints", tuple(law.sized(*size) for law in self.constraints))

    def __repr__(self) -> str:
        return f"Problem({', '.join(f'{name}={text}' for name, text in self.composed.items())})"

    def _repr_html_(self) -> str:
        return html_facts(f"Problem {self.name}", self.composed)

    @property
    def composed(self) -> dict[str, str]:
        """Return the arguments by name, without those at their default."""
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
        frozen = self.function_seed if function_seed is None else function_seed
        if type(entropy) is not int or entropy < 0:  # a hundredth of a draw, if it is asked in each
            require_seed("entropy", entropy)
            entropy = int(entropy)  # numpy's integers have no bytes
        check_seed(frozen)
        seed = seed_of_role(entropy, "functions") if frozen is None else np.random.SeedSequence(frozen)
        rngs = dict.fromkeys(ROLES, UNUSED)
        rngs |= {role: np.random.default_rng(seed_of_role(entropy, role)) for role in self.random_roles}

        segment = self.changes.draw(self.horizon, rngs["changes"])
        context = self.context.draw(self.horizon + 1, self.decisions.num_contexts, rngs["context"])
        held = self.changes.functions(segment)
        truth = self._functions.truth(self, held, seed, frozen)
        version = np.arange(self.horizon) if self.drifts else held
        costs = self._functions.play_costs(self, seed)
        safe = safe_seed(self, truth, seed)
        roster = roster_of(self, truth, costs, safe, version, context, rngs["availability"])
        std, norm = _std(self.noise, truth, 0), publishing.norm_bound(self, truth.drawn)
        on_box, free = self.decisions.continuous, self.play_costs.is_free
        return Trial(
            means=Playback(truth.means) if self.drifts else truth.means,
            between=[[f.between for f in row if f.between] for row in truth.drawn if on_box],
            optimum=roster.optimum,
            worst=roster.worst,
            ceiling=truth.optimum[version, context[:-1]] if self.volatile else roster.optimum,
            segment=self.drift.segments(self.reward, segment),
            version=version,
            context=context,
            noise=self._noise(std, truth, rngs),
            attack=self.corruption.draw(self.horizon, rngs["corruption"]),
            bits=roster.bits,
            wait=self.delay.draw(self.horizon, rngs["delay"]),
            play_costs=costs,
            cost_noise=np.zeros(self.horizon) if free else rngs["cost_noise"].standard_normal(self.horizon),
            rate=roster.rate,
            publish=partial(self._published_in, std, norm, costs, safe),
        )

    @property
    def trial_facts(self) -> tuple[str, ...]:
        """Return the fields of a trial's setting that depend on its functions; others hold for every draw.

        Chowdhury & Gopalan (2017) give the learner two numbers of each function: noise is a share of its
        range, and B is its norm, from which the bound -B s follows. A safe seed is one more. No other
        published field is computed from the truth, and without the model these are withheld as well.
        """
        drawn = self.play_costs.known and not self.play_costs.is_fixed
        safe_seed = ("safe_seed",) if self.safe_seed else ()
        of_reward = () if self.reward.is_fixed else publishing.found_in_a_draw(self)
        return (*of_reward, *safe_seed, *(("known_costs",) if drawn else ()))

    def setting(self) -> Setting:
        """Return the part of the published setting that holds for all trials."""
        return self.published.copied()

    def _published_in(self, *drawn: Any) -> Setting:
        """Return the published setting of a trial, from what `publishing.fields_of_trial` takes."""
        return self.published.copied(publishing.fields_of_trial(self, *drawn))

    @cached_property
    def random_roles(self) -> list[str]:
        """Return the roles that are drawn: making a generator takes as long as a draw."""
        at_rest = {
            "noise": self.noise == NoNoise(),
            "delay": self.delay == Immediate(),
            "context": self.decisions.num_contexts == 1 and self.context == UniformContexts(),
            "changes": self.changes == Stationary(),
            "constraint_noise": not self.constraints or self.constraint_noise == NoNoise(),
            "corruption": self.corruption == UNTOUCHED,
            "availability": not self.volatile,
            "cost_noise": self.play_costs.is_free,
        }
        return [role for role, rests in at_rest.items() if not rests]

    @cached_property
    def published(self) -> Setting:
        """Return `setting` as it is kept, for those who change nothing in it."""
        return publishing.published(self)

    @cached_property
    def _functions(self) -> DrawnFunctions:
        return DrawnFunctions()

    def _noise(self, std: float, truth: Truth, rngs: dict[str, np.random.Generator]) -> Floats:
        noise, law = np.empty((self.horizon, 1 + len(self.constraints))), self.constraint_noise
        drawn = self.noise.draw(self.horizon, rngs["noise"])
        noise[:, 0] = drawn if self.noise.draws_outcomes else std * drawn
        for c in range(1, 1 + len(self.constraints)):
            drawn = law.draw(self.horizon, rngs["constraint_noise"])
            noise[:, c] = _std(law, truth, c) * drawn
        return noise


def _std(law: Noise, truth: Truth, function: int) -> float:
    """Return the noise std of a law on the reward, function 0, or on a cost."""
    return law.std if law.share is None else law.scale(*truth.extent(function))


def seed_of_role(entropy: int, role: str) -> np.random.SeedSequence:
    """Return SeedSequence(entropy, spawn_key=(i,)), i of the role, from its words: half the time."""
    size = max(-(-entropy.bit_length() // 32), 4)  # numpy fills an entropy beside a key to four words
    given = entropy.to_bytes(4 * size, "little") + ROLES.index(role).to_bytes(4, "little")
    return np.random.SeedSequence(np.frombuffer(given, dtype="<u4"))  # type: ignore[arg-type]
