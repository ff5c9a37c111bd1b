"""Compose a problem of a decision set, a model, and a law for each of its random parts, which must fit."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics import arguments
from bandit_envs.basics.arguments import ArgumentError, is_integer, require, require_switch
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.gram import Gram
from bandit_envs.kernels.validity import require_no_white, require_valid
from bandit_envs.laws import changes, contexts, delays
from bandit_envs.laws.availability import EVERY_ARM, Availability
from bandit_envs.laws.changes import Changes, Recurring
from bandit_envs.laws.contexts import Context
from bandit_envs.laws.corruption import UNTOUCHED, Corruption
from bandit_envs.laws.delays import Delay
from bandit_envs.laws.derived import AS_DRAWN, Feasibility, UnderKernel
from bandit_envs.laws.drift import STILL, Drift, Replay
from bandit_envs.laws.duels import DuelLaw, WhoWins
from bandit_envs.laws.functions import FunctionLaw
from bandit_envs.laws.movement import FREE_MOVES, Movement
from bandit_envs.laws.noise import Gaussian, Noise, NoNoise
from bandit_envs.laws.outcomes import OfOutcome
from bandit_envs.laws.play_costs import FREE, PlayCosts
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.setting_checks import check_prior_mean
from bandit_envs.problem.truth import SAFEST


@dataclass(frozen=True, eq=False)
class Composition:
    """Hold the laws of a problem; `Problem` documents the arguments."""

    decisions: Decisions
    reward: FunctionLaw
    kernel: Any
    noise: Noise = Gaussian(0.1)
    constraints: tuple[FunctionLaw, ...] = ()
    feasibility: Feasibility = AS_DRAWN
    constraint_noise: Noise = NoNoise()
    delay: Delay = delays.Immediate()
    max_delay: int | None = None
    aggregated: bool = False
    context: Context = contexts.UniformContexts()
    changes: Changes = changes.Stationary()
    drift: Drift = STILL
    corruption: Corruption = UNTOUCHED
    availability: Availability = EVERY_ARM
    play_costs: PlayCosts = FREE
    movement: Movement = FREE_MOVES
    horizon: int = 1000
    prior_mean: Floats | float = 0.0
    rkhs_bound: str | float | None = "true"
    publish_model: bool = True
    function_seed: int | None = None
    safe_seed: bool | str = False
    long_term: bool = False
    name: str = "custom"

    @cached_property
    def gram(self) -> Gram:
        """Return the kernel on the points, factorised once a problem."""
        return Gram(self.kernel, self.decisions.points)

    @cached_property
    def constraint_prior_std(self) -> Floats:
        """Prior std of each cost's law, (C,)."""
        return np.array([law.prior_std(self.gram) for law in self.constraints], dtype=np.float64)

    @cached_property
    def is_fixed(self) -> bool:
        """Return whether all trials have the same functions."""
        return not self.drifts and all(law.is_fixed for law in (self.reward, *self.constraints))

    @property
    def drifts(self) -> bool:
        """Return whether each round has functions of its own."""
        return not self.drift.is_still

    @property
    def volatile(self) -> bool:
        """Return whether arms may be unavailable in a round."""
        return self.availability != EVERY_ARM

    @property
    def slots(self) -> int:
        """Return the number K of feedback slots in `info`: one a delay, or one for the delivered sum."""
        return 1 if self.aggregated else self.window + 1

    @cached_property
    def window(self) -> int:
        """Return the largest delay at which feedback is delivered."""
        return self.delay.window(self.horizon) if self.max_delay is None else int(self.max_delay)


LAWS: dict[str, tuple[type, str]] = {  # of each random part: the type and an example
    "noise": (Noise, "Gaussian(0.1)"),
    "constraint_noise": (Noise, "NoNoise()"),
    "delay": (Delay, "PoissonDelay(10)"),
    "context": (Context, "UniformContexts()"),
    "changes": (Changes, "AtRounds((300, 900))"),
    "drift": (Drift, "OrnsteinUhlenbeck(0.01)"),
    "corruption": (Corruption, "AgainstTheBest(3.0)"),
    "availability": (Availability, "BernoulliAvailability(0.8)"),
    "play_costs": (PlayCosts, "GPCosts(50.0)"),
    "movement": (Movement, "Switching(0.1)"),
    "feasibility": (Feasibility, "FeasibleShare(0.3)"),
}
TRIED = 250  # points of a box on which an unknown kernel is tested


def check_problem(problem: Composition) -> None:
    """Raise a ValueError that names the argument, the expected and the given value."""
    _check_parts(problem)
    _check_numbers(problem)
    _check_box(problem)
    _check_drift(problem)
    _check_changes(problem)
    settled = problem.movement.is_free or problem.decisions.num_contexts == 1
    reason = 'the law "none" with several contexts, which force moves whatever is learnt'
    require(settled, "movement", reason, problem.movement)
    problem.play_costs.check_size(len(problem.decisions.points))
    _check_duel(problem)
    _check_safe_seed(problem)
    check_kernel(problem.kernel, problem.decisions)
    for law in problem.constraints:
        if isinstance(law, UnderKernel):
            with arguments.written_as({"kernel": 'constraints["kernel"]'}):
                check_kernel(law.kernel, problem.decisions)
    require_no_white("kernel", problem.kernel, "noise=Gaussian({})")
    check_prior_mean(problem.prior_mean, problem.decisions)
    if isinstance(problem.noise, OfOutcome):
        problem.noise.outcome.require_possible("prior_mean", problem.prior_mean)


def check_seed(seed: Any) -> None:
    """Raise unless the value seeds functions, or is None and leaves them to the trial's seed."""
    valid = seed is None or (is_integer(seed) and seed >= 0)
    require(valid, "function_seed", "None or an integer >= 0", seed)


def check_kernel(kernel: Any, decisions: Decisions) -> None:
    """Raise unless the value is a kernel of these (context, arm) features, and a covariance on them."""
    require(isinstance(kernel, Kernel), "kernel", "a scikit-learn kernel object", kernel)
    point = decisions.with_context(0, decisions.arms[[0, decisions.num_arms // 2, -1]])
    try:
        with np.errstate(all="ignore"):
            finite = np.isfinite(kernel(point)).all()
    except ValueError as error:  # the number of length-scales is not that of features
        complaint = f"must take points of {point.shape[1]} features, got {arguments.shown(kernel)}: {error}"
        raise ArgumentError("kernel", complaint) from error
    require(finite, "kernel", "finite at the points; take another length-scale", kernel)
    tried = decisions.points
    if decisions.continuous:  # random points of the box in random contexts
        assert decisions.contexts is not None
        rng = np.random.default_rng(0)
        arms = rng.uniform(*decisions.box, (TRIED, decisions.arms.shape[1]))
        tried = np.hstack([decisions.contexts[rng.integers(decisions.num_contexts, size=TRIED)], arms])
    require_valid(kernel, tried)


def _check_parts(problem: Composition) -> None:
    require(isinstance(problem.decisions, Decisions), "decisions", "a Decisions", problem.decisions)
    costs = problem.constraints
    require(isinstance(costs, list | tuple), "constraints", "a tuple of laws, () for none", costs)
    for name, law in _functions(problem).items():
        require(isinstance(law, FunctionLaw), name, "a law such as KnownFunction(f)", law)
    for name, (kind, such) in LAWS.items():
        law = getattr(problem, name)
        if not isinstance(law, kind) or isinstance(law, type):
            require(False, name, f"a law such as {such}", law)
    require(isinstance(problem.name, str), "name", "text", problem.name)


def _functions(problem: Composition) -> dict[str, FunctionLaw]:
    """Return the laws of reward and costs by what errors call them."""
    costs = {f"constraints[{i}]": law for i, law in enumerate(problem.constraints)}
    return {"reward": problem.reward, **costs}


def _check_numbers(problem: Composition) -> None:
    arguments.require_size("horizon", problem.horizon)
    bound = problem.rkhs_bound
    named = bound is None or (isinstance(bound, str) and bound in ("true", "paper"))
    known = named or (arguments.is_number(bound) and float(bound) > 0)  # type: ignore[arg-type]
    require(known, "rkhs_bound", '"true", "paper", None or a positive number', bound)
    window = problem.max_delay
    valid = window is None or (is_integer(window) and 0 <= window < problem.horizon)
    require(valid, "max_delay", "None or an integer in 0..horizon - 1", window)
    check_seed(problem.function_seed)
    share = problem.constraint_noise.share  # differs by cost and trial; a setting publishes one number
    require(share is None, "constraint_noise", 'without "share"; give "std"', share)
    require_switch("publish_model", problem.publish_model)
    require_switch("aggregated", problem.aggregated)


def _check_box(problem: Composition) -> None:
    on_box, runs = problem.decisions.continuous, problem.noise.num_points
    known = all(law.has_box_form for law in (problem.reward, *problem.constraints))
    at_points = "False: this reward or a cost is defined at its points only"
    require(known or not on_box, "continuous", at_points, True)
    fits = not runs or (not on_box and runs == len(problem.decisions.points))
    require(fits, "noise", f"of {runs} points of a finite set, as it has runs of these", problem.noise)
    needed = "left out on a box, which has no finite set of arms; or leave out continuous=True"
    require(not (problem.volatile and on_box), "availability", needed, problem.availability)
    still = "False: drifting functions are defined at their points only"
    require(not (problem.drifts and on_box), "continuous", still, True)


def _check_drift(problem: Composition) -> None:
    drift = problem.drift
    recur = isinstance(problem.changes, Recurring)
    none_return = "other than recurring where functions drift, because none returns unchanged"
    require(not (problem.drifts and recur), "changes", none_return, problem.changes)
    drift.check(problem.reward, problem.horizon)
    for law in problem.constraints:
        drift.of_costs.check(law, problem.horizon)
    drifting = [problem.reward, *(problem.constraints if not drift.of_costs.is_still else ())]
    moves = not problem.drifts or not all(law.is_fixed for law in drifting)
    require(moves, "drift", "left out where each function is given once, so that none would drift", drift)


def _check_changes(problem: Composition) -> None:
    """Raise unless some function differs after each change-point, and stated ones are as many as needed."""
    changes, replayed = problem.changes, isinstance(problem.drift, Replay)
    laws = [*(() if replayed else (problem.reward,)), *problem.constraints]
    most = [math.inf if law.num_functions is None else law.num_functions for law in laws]
    found = max(most, default=1)
    if found < changes.different:
        complaint = f"must have at most {found} functions, as reward and costs have, got {changes}"
        remedy = "leave changes out, take a law of more functions, or add costs that change"
        raise ArgumentError("changes", f'{complaint}; {remedy}: constraints={{"law": "gp"}}')
    for name, law in _functions(problem).items():
        if law.num_stated is not None:
            given = changes.needed == law.num_stated and not problem.drifts
            rounds = tuple(range(300, 300 * law.num_stated, 300))
            such = f"AtRounds({rounds})" if rounds else "Stationary()"
            fits = f"a law of {law.num_stated} functions without drift, as {name} states so many segments"
            require(given, "changes", f"{fits}, such as {such}", changes)


def _check_duel(problem: Composition) -> None:
    """Raise unless an outcome is drawn where actions are pairs, and nowhere else, and the rest fits it."""
    duel, delay = problem.decisions.duel, problem.delay
    fits = isinstance(problem.noise, WhoWins) == duel == isinstance(problem.reward, DuelLaw)
    drawn = "AgainstBest or PairChances, and WhoWins, of bandit_envs.laws.duels with duel=True"
    require(fits, "reward and noise", f"{drawn}, and other laws without", (problem.reward, problem.noise))
    if not duel:
        return
    slowed = np.ptp(delay.slowdown(problem.decisions.unit_arms)) > 0 or delay.depends_on_rewards
    refused = {
        "continuous": (problem.decisions.continuous, "a box has no finite set of pairs"),
        "constraints": (problem.constraints, "costs are of one arm, not of a pair"),
        "corruption": (problem.corruption.budget, "an attack adds to rewards, and who won is no sum"),
        "availability": (problem.volatile, "masks are of arms, not of pairs"),
        "budget": (not problem.play_costs.is_free, "costs of plays are of one arm, not of a pair"),
        "movement": (not problem.movement.is_free, "moves are from one arm to another"),
        "aggregated": (problem.aggregated, "a sum of outcomes does not say which duels were won"),
        "delay": (slowed, "a law by arm or by reward needs one arm and its reward"),
    }
    for name, (given, reason) in refused.items():
        require(not given, name, f"left out of duels: {reason}", getattr(problem, name, given))


def _check_safe_seed(problem: Composition) -> None:
    if problem.safe_seed is False:
        return
    known = problem.safe_seed is True or (isinstance(problem.safe_seed, str) and problem.safe_seed == SAFEST)
    require(known, "safe_seed", f'True, False or "{SAFEST}"', problem.safe_seed)
    where = {
        "with constraints": bool(problem.constraints),
        "on a finite set": not problem.decisions.continuous,
        "without drift": not problem.drifts,
    }
    for words, given in where.items():
        require(given, "safe_seed", f"False but {words}", True)
