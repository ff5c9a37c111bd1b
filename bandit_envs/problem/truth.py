"""The functions of a trial and their extremes in a round, and a safe seed among the arms."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.immutable import fixed
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.kernels.definite import SLOW
from bandit_envs.laws.drawn import Drawn, RatioOfDrawn
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.optimum import maximise

MARGIN = 0.1  # slack of a safe seed in every cost, in prior stds
TRIES = 1000  # draws of the costs until an arm is safe in all segments and contexts
SAFEST = "safest"
Extremes = tuple[Floats, Floats]  # best feasible (minus infinity if none) and worst mean reward, (V, Z) each


def safe_arms(costs: Floats, decisions: Decisions, stds: Floats) -> Ints:
    """Return the arms whose costs, (V, C, N), are at most -`MARGIN` prior stds, (C,), in every context."""
    return np.flatnonzero(_worst(costs / stds[:, None], decisions) <= -MARGIN)


def safest_arm(costs: Floats, decisions: Decisions, stds: Floats) -> int:
    """Return the arm whose largest cost in prior stds, over costs, contexts and segments, is least."""
    return int(_worst(costs / stds[:, None], decisions).argmin())


def _worst(costs: Floats, decisions: Decisions) -> Floats:
    return costs.reshape(-1, decisions.num_arms).max(axis=0)


class Truth(NamedTuple):
    """Hold V versions of the functions; without drift, a version is a segment, with it, a round."""

    means: Any  # (V, 1 + C, N) an array, or an object with its rows by index
    optimum: Floats  # (V, Z) of the feasible
    worst: Floats  # (V, Z)
    low: Floats  # (V, 1 + C, Z) least value of the reward and of each cost
    high: Floats  # (V, 1 + C, Z) largest one
    drawn: Sequence[Sequence[Drawn]] = ()  # [segment][reward, then costs]; empty with drift

    @classmethod
    def of(cls, drawn: list[list[Drawn]], decisions: Decisions, extremes: Extremes | None) -> "Truth":
        """Return the truth of functions that each hold for a segment, and on a box their extremes."""
        means = fixed(np.array([[function.values for function in functions] for functions in drawn]))
        truth = of_table(means, decisions, drawn)
        if extremes is not None:
            truth = truth._replace(optimum=extremes[0], worst=extremes[1])
        if means.shape[1] > 1:
            check_feasible(truth.optimum, "segment")
        return truth

    @property
    def extremes(self) -> tuple[Floats, ...]:
        """The optimum, the worst, and the least and the largest values, all by version."""
        return self.optimum, self.worst, self.low, self.high

    def extent(self, function: int) -> tuple[float, float]:
        """Return the least and the largest value of the reward, 0, or of a cost, 1 to C."""
        low, high = self.low[:, function], self.high[:, function]
        return low.item(low.argmin()), high.item(high.argmax())  # half the time of min and max


def of_table(means: Floats, decisions: Decisions, drawn: Sequence[Sequence[Drawn]] = ()) -> Truth:
    """Return the truth of tables, (V, 1 + C, N), and of the functions that they are of, if there are any."""
    table = means.reshape(*means.shape[:2], decisions.num_contexts, -1)  # (V, 1 + C, Z, A)
    low, high = np.minimum.reduce(table, 3), np.maximum.reduce(table, 3)
    # Under constraints one version at a time, to save memory.
    best = high[:, 0] if table.shape[1] == 1 else np.array([_best(version) for version in table])
    return Truth(means, best, low[:, 0], low, high, drawn)


def _best(values: Floats) -> Floats:
    """Return the largest reward where no cost is positive, (1 + C, Z, A) -> (Z,); -inf if nowhere."""
    if len(values) == 1:
        return np.asarray(values[0].max(axis=1))
    feasible: Bools = np.logical_and.reduce(values[1:] <= 0.0)
    # Several times as fast as the `where` argument of max.
    return np.asarray(np.where(feasible, values[0], -np.inf).max(axis=1))


def check_feasible(best: Floats, version: str) -> None:
    """Raise unless something is feasible in every version and context, (V, Z)."""
    if best.min() == -np.inf:
        index, context = np.argwhere(np.isneginf(best))[0]
        raise ValueError(
            f"constraints must be <= 0 together somewhere, got no such point in {version} {index}, context "
            f"{context}; lower the costs, add points, or draw costs with a feasible share of arms: "
            'constraints={"law": "gp", "quantile": 0.3}'
        )


def of_box(drawn: list[list[Drawn]], decisions: Decisions) -> Extremes:
    """Return the extremes between the points, by search."""
    contexts = range(decisions.num_contexts)
    best = np.array([[_maximise(decisions, z, 1.0, *row) for z in contexts] for row in drawn])
    worst = np.array([[-_maximise(decisions, z, -1.0, row[0]) for z in contexts] for row in drawn])
    return best, worst


def best_rates(truth: Truth, costs: Drawn, decisions: Decisions) -> Floats:
    """Return the largest mean reward a unit of cost where all constraints hold, at least 0, (V, Z).

    It is rho* = max f / k: a budget of one resource earns rho* B at best, because the linear programme over
    mixtures of arms has its optimum at one arm. It is not negative, because losing arms need not be played.
    """
    if decisions.continuous:
        contexts = range(decisions.num_contexts)
        return np.array([[_best_rate(decisions, z, row, costs) for z in contexts] for row in truth.drawn])
    shape, versions = (-1, decisions.num_contexts, decisions.num_arms), range(len(truth.optimum))
    price = costs.values.reshape(shape)

    def rates(version: int) -> Floats:
        values = np.asarray(truth.means[version]).reshape(shape).copy()
        values[:1] /= price
        return np.maximum(_best(values), 0.0)

    return np.array([rates(version) for version in versions])


def _best_rate(decisions: Decisions, context: int, row: Sequence[Drawn], costs: Drawn) -> float:
    reward, *constraints = row
    rate = Drawn(reward.values / costs.values, between=RatioOfDrawn(_between(reward), _between(costs)))
    return max(_maximise(decisions, context, 1.0, rate, *constraints), 0.0)


def _maximise(decisions: Decisions, context: int, sign: float, reward: Drawn, *costs: Drawn) -> float:
    """Return the largest value of sign * reward on the box, where all given costs are <= 0."""

    def within(function: Callable[[Floats], Floats], factor: float) -> Callable[[Floats], Floats]:
        return lambda arms: factor * function(decisions.with_context(context, arms))

    limits = [within(_between(cost), 1.0) for cost in costs]
    return maximise(within(_between(reward), sign), *decisions.box, decisions.arms, limits)


def _between(drawn: Drawn) -> Callable[[Floats], Floats]:
    if drawn.between is None:
        few = f"at most {SLOW} on a box, where arms are anchors, unless the kernel is of low rank"
        raise ArgumentError("num_arms", f"must be {few}, got {len(drawn.values)} points; give fewer anchors")
    return drawn.between
