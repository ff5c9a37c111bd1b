"""The functions of a trial and their extremes, by search on a box, and a safe seed among the arms."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import fmin_l_bfgs_b, minimize
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist
from scipy.stats import qmc

from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.basics.types import Bools, Floats, Ints, fixed
from bandit_envs.kernels.definite import BLOCK_BYTES, SLOW, blocks
from bandit_envs.laws.drawn import Drawn
from bandit_envs.problem.decisions import Decisions

STEP = 1e-5  # box widths, of central differences; smaller ones pick up the function's rounding
TIGHT = 1e-9  # of a cost's range: violation that counts as the solver's rounding

Function = Callable[[Floats], Floats]
CANDIDATES = 2048
STARTS = 8
PENALTIES = (0.3, 3.0, 30.0)  # in ranges of the function a range of the worst cost; each adds starts


def climb(
    function: Function,
    start: Floats,
    low: Floats,
    high: Floats,
    scale: float,
    costs: Sequence[Function] = (),
    scales: Sequence[float] = (),
) -> float:
    """Return the largest value that a solver finds on a box from a start, where the costs are <= 0.

    The solver is L-BFGS-B, under costs SLSQP. Where it ends with a positive cost the value is minus infinity.
    """
    falling = _sloped(function, low, high, -scale)  # scaled, because the solvers' tolerances are absolute
    bounds = list(zip(low, high, strict=True))
    if not costs:
        options = {"ftol": 1e-15, "gtol": 1e-10}
        result = minimize(falling, start, bounds=bounds, method="L-BFGS-B", jac=True, options=options)
        return -float(result.fun) * scale
    split, each = SplitFunction(falling), zip(costs, scales, strict=True)
    slacks = [SplitFunction(_sloped(cost, low, high, -size)) for cost, size in each]
    result = minimize(
        split.value,
        start,
        jac=split.slopes,
        bounds=bounds,
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": slack.value, "jac": slack.slopes} for slack in slacks],
        options={"ftol": 1e-14, "maxiter": 200},
    )
    within = min(slack.value(result.x) for slack in slacks) >= -TIGHT
    return -float(result.fun) * scale if within else -np.inf


def _sloped(
    function: Function, low: Floats, high: Floats, scale: float
) -> Callable[[Floats], tuple[float, Floats]]:
    """Return function / scale together with its slopes by central differences on a box, of any point."""
    shifts = STEP * np.diag(np.maximum(high - low, np.finfo(float).tiny))

    def both(x: Floats) -> tuple[float, Floats]:
        up, down = (np.clip(x + shift, low, high) for shift in (shifts, -shifts))
        values = function(np.vstack([np.clip(x, low, high), up, down])) / scale
        rise = values[1 : 1 + len(x)] - values[1 + len(x) :]
        apart = np.diag(up - down)
        return float(values[0]), rise / np.where(apart > 0, apart, 1.0)  # a side may have length 0

    return both


def maximise(
    function: Function, low: Floats, high: Floats, anchors: Floats, costs: Sequence[Function] = ()
) -> float:
    """Return the largest value of a smooth function where smooth costs are <= 0 on a box; -inf if nowhere.

    It is a multi-start local search. Halton's points, the corners (from d = 12 on some of them) and the
    anchors, (n, d) inside the box, are candidates; from the best local maxima among them L-BFGS-B starts, or
    under costs SLSQP, which also starts at the best by penalised value: a feasible set may be small and lie
    between the candidates. Only the value matters: near an interior optimum an error of 1e-7 in x costs 1e-14
    in f. Functions map (n, d) -> (n,).
    """
    spread = [qmc.Halton(len(low), scramble=False).random(CANDIDATES), _corners(len(low))]
    points = np.vstack([low + (high - low) * np.vstack(spread), anchors])
    unit = (points - low) / np.where(high > low, high - low, 1.0)
    values = function(points)
    scale = _range(values)
    if not costs:
        # One search a start: a joint search would share step sizes.
        up = partial(climb, function, low=low, high=high, scale=scale)
        return max(float(values.max()), *map(up, points[_peaks(unit, values)]))
    table = np.array([cost(points) for cost in costs])  # (C, n)
    if ((np.ptp(table, axis=1) == 0) & (table[:, 0] > 0)).any():
        return -np.inf  # a constant violation cannot be left
    scales = np.array([_range(row) for row in table])
    worst = np.maximum(table / scales[:, None], 0.0).max(axis=0)
    feasible = np.where(worst > 0, -np.inf, values)
    limits = {"costs": costs, "scales": scales.tolist()}
    up = partial(climb, function, low=low, high=high, scale=scale, **limits)
    scaled = values / scale
    least = np.lexsort((scaled, -worst))[-STARTS:]  # the candidates that violate least
    best = _peaks(unit, *(scaled - penalty * worst for penalty in PENALTIES))
    return max(float(feasible.max()), *map(up, points[np.union1d(best, least)]))


def _peaks(unit: Floats, *scores: Floats) -> Any:
    neighbours = min(2 * unit.shape[1] + 2, len(unit))
    near = _nearest(unit, neighbours)
    peaks = [np.flatnonzero(score >= score[near].max(axis=1)) for score in scores]
    best = [peak[np.argsort(score[peak])[-STARTS:]] for peak, score in zip(peaks, scores, strict=True)]
    return np.unique(np.concatenate(best))


def _nearest(unit: Floats, count: int) -> Ints:
    """Return the indices of the points nearest to each, itself included, (n, d) -> (n, count)."""
    if 2 ** unit.shape[1] <= CANDIDATES:
        return np.asarray(KDTree(unit).query(unit, k=count)[1])
    # In many dimensions a tree visits nearly all points, at ten times the price.
    each = (cdist(block, unit, "sqeuclidean") for block in blocks(unit, len(unit), BLOCK_BYTES))
    return np.concatenate([distance.argpartition(count - 1, axis=1)[:, :count] for distance in each])


def _corners(dim: int) -> Floats:
    """Return the corners of [0, 1]^dim, or as many of the 2^dim as there are other candidates, (n, dim)."""
    if 2**dim <= CANDIDATES:
        return np.array(np.meshgrid(*[[0.0, 1.0]] * dim)).reshape(dim, -1).T
    some = np.random.default_rng(0).integers(0, 2, (CANDIDATES // 2, dim)).astype(np.float64)
    return np.vstack([some, 1.0 - some])  # each side of the box has half of them


def _range(values: Floats) -> float:
    """Return the range of a function; of a constant its size, or 1 if that is 0."""
    return float(np.ptp(values)) or float(np.abs(values).max()) or 1.0


LIMIT = 15_000  # iterations and calls: scipy's


class SplitFunction:
    """Value and slopes of a function that finds them together; scipy's own way to split it takes longer."""

    def __init__(self, function: Callable[[Floats], tuple[float, Floats]]):
        self._function = function
        self._found: tuple[Any, Floats] = np.nan, np.empty(0)  # the latest point, (d,), and the slopes there

    def value(self, x: Floats) -> float:
        """Return the value."""
        value, slopes = self._function(x)
        self._found = x.copy(), slopes
        return value

    def slopes(self, x: Floats) -> Floats:
        """Return the slopes, (d,), which are known at the latest point."""
        if not (x == self._found[0]).all():
            self.value(x)
        return self._found[1]


def descended(
    function: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    bounds: Any,
    precision: float = 1e7 * np.finfo(np.float64).eps,
    steps: int = LIMIT,
    calls: int = LIMIT,
) -> tuple[Floats, float]:
    """Return the end of L-BFGS-B within bounds, pairs of numbers, and the value there.

    It ends when a step lowers the value by less than `precision` of it, or of 1.
    """
    split, factor = SplitFunction(function), precision / np.finfo(np.float64).eps
    end, value, _ = fmin_l_bfgs_b(
        split.value, start, split.slopes, bounds=bounds, factr=factor, maxiter=steps, maxfun=calls
    )
    return end, float(value)


MARGIN = 0.1  # slack of a safe seed in every cost, in prior stds
SAFEST = "safest"
Extremes = tuple[Floats, Floats]  # best feasible (minus infinity if none) and worst mean reward, (V, Z) each


def largest_costs(costs: Floats, decisions: Decisions, stds: Floats) -> Floats:
    """Return the largest cost of each arm over (V, C, N) costs in their prior stds, (C,), as (A,)."""
    return (costs / stds[:, None]).reshape(-1, decisions.num_arms).max(axis=0)


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
        truth = cls.of_table(means, decisions, drawn)
        if extremes is not None:
            truth = truth._replace(optimum=extremes[0], worst=extremes[1])
        if means.shape[1] > 1:
            check_feasible(truth.optimum, "segment")
        return truth

    @classmethod
    def of_table(cls, means: Floats, decisions: Decisions, drawn: Sequence[Sequence[Drawn]] = ()) -> "Truth":
        """Return the truth of tables, (V, 1 + C, N), and of the functions that they are of, if any."""
        table = means.reshape(*means.shape[:2], decisions.num_contexts, -1)  # (V, 1 + C, Z, A)
        low, high = np.minimum.reduce(table, 3), np.maximum.reduce(table, 3)
        # Under constraints one version at a time, to save memory.
        best = high[:, 0] if table.shape[1] == 1 else np.array([_best(version) for version in table])
        return cls(means, best, low[:, 0], low, high, drawn)

    @property
    def extremes(self) -> tuple[Floats, ...]:
        """The optimum, the worst, and the least and the largest values, all by version."""
        return self.optimum, self.worst, self.low, self.high

    def extent(self, function: int) -> tuple[float, float]:
        """Return the least and the largest value of the reward, 0, or of a cost, 1 to C."""
        low, high = self.low[:, function], self.high[:, function]
        return low.item(low.argmin()), high.item(high.argmax())  # half the time of min and max


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
    rates = []
    if decisions.continuous:
        for reward, *constraints in truth.drawn:

            def ratio(x: Floats, reward: Drawn = reward) -> Floats:
                return _between(reward)(x) / _between(costs)(x)

            rate = Drawn(reward.values / costs.values, between=ratio)
            contexts = range(decisions.num_contexts)
            rates.append([_maximise(decisions, z, 1.0, rate, *constraints) for z in contexts])
        return np.maximum(rates, 0.0)
    shape = -1, decisions.num_contexts, decisions.num_arms
    for version in range(len(truth.optimum)):
        values = np.asarray(truth.means[version]).reshape(shape).copy()
        values[:1] /= costs.values.reshape(shape)
        rates.append(_best(values))
    return np.maximum(rates, 0.0)


def _maximise(decisions: Decisions, context: int, sign: float, reward: Drawn, *costs: Drawn) -> float:
    """Return the largest value of sign * reward on the box, where all given costs are <= 0."""

    def within(function: Function, factor: float) -> Function:
        return lambda arms: factor * function(decisions.with_context(context, arms))

    limits = [within(_between(cost), 1.0) for cost in costs]
    return maximise(within(_between(reward), sign), *decisions.box, decisions.arms, limits)


def _between(drawn: Drawn) -> Function:
    if drawn.between is None:
        few = f"at most {SLOW} on a box, where arms are anchors, unless the kernel is of low rank"
        raise ArgumentError("num_arms", f"must be {few}, got {len(drawn.values)} points; give fewer anchors")
    return drawn.between
