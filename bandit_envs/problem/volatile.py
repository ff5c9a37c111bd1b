"""Which arms may be played in each round of a trial, and what is best among them, found at its reset."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.laws.availability import Availability
from bandit_envs.laws.drawn import Drawn
from bandit_envs.problem.composition import Composition
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.drifting import Playback
from bandit_envs.problem.truth import Truth, best_rates

ENTRIES = 2**17  # arms of rounds that are drawn at once: 1 MB of uniforms
Bits = np.ndarray  # uint8: eight arms a byte


class Roster(NamedTuple):
    """The arms of T + 1 rounds, the last of which is not played."""

    bits: Bits  # (T + 1, ceil(A / 8)), see `mask_of`
    optimum: Floats  # (T,) largest mean reward of an available feasible arm
    worst: Floats  # (T,) smallest mean reward of an available arm
    rate: Floats  # (T,) largest mean reward a unit of cost of an available feasible arm, at least 0


def roster_of(
    problem: Composition,
    truth: Truth,
    costs: Drawn,
    kept: int | None,
    version: Ints,
    context: Ints,
    rng: np.random.Generator,
) -> Roster:
    """What may be played in each round of a trial, and what is best of it.

    Args:
        problem: whose trial it is.
        truth, costs: its functions, and what its plays cost.
        kept: its safe seed, which is never missing; None for none.
        version: of each round, (T,).
        context: (T + 1,).
        rng: of availability.
    """
    priced = not problem.play_costs.is_free
    truth = truth._replace(means=Playback(truth.means)) if problem.drifts else truth
    if problem.volatile:
        given = problem.decisions, rng, costs.values if priced else None, kept
        return _drawn(problem.availability, truth.means, version, context, *given)
    at, every_arm = (version, context[:-1]), np.empty((len(context), 0), np.uint8)
    rate = best_rates(truth, costs, problem.decisions)[at] if priced else np.zeros(problem.horizon)
    return Roster(every_arm, truth.optimum[at], truth.worst[at], rate)


def _drawn(
    law: Availability,
    means: Any,
    version: Ints,
    context: Ints,
    decisions: Decisions,
    rng: np.random.Generator,
    price: Floats | None,
    kept: int | None,
) -> Roster:
    """Draw the arms of a trial; one that is feasible is there in every round, and all are in the first.

    So an arm that was chosen before the reset may be played after it, as Gymnasium's checker does.

    Args:
        law: of availability.
        means: (1 + C, N) of each version, by its index.
        version: of each round, (T,); after the last round the functions stay what they are.
        context: (T + 1,).
        decisions: of the problem.
        rng: of availability.
        price: what each point costs, (N,); None where plays cost nothing and all rates are 0.
        kept: a feasible arm that is there in every round, such as a safe seed; None is any feasible one.
    """
    versions = np.append(version, version[-1])
    size = max(1, ENTRIES // decisions.num_arms)
    parts = []
    for start in range(0, len(context), size):
        rounds = slice(start, start + size)
        values = _at(means, versions[rounds], context[rounds], decisions.num_arms)
        paid = None if price is None else price.reshape(-1, decisions.num_arms)[context[rounds]]
        wanted = _feasible(values)
        if kept is not None:
            wanted[:] = np.arange(decisions.num_arms) == kept
        available = law.draw(wanted, rng)
        if start == 0:
            available[0] = True
        parts.append(_best(available, values, paid))
    bits, optimum, worst, rate = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Roster(bits, optimum[:-1], worst[:-1], rate[:-1])


def mask_of(bits: Bits, num_arms: int) -> np.ndarray:
    """Which arms may be played as Gymnasium has it, (..., bytes) -> int8 (..., A), 1 of those that may."""
    return np.unpackbits(bits, axis=-1, count=num_arms).view(np.int8)


def is_in(byte: Any, arm: Any) -> Any:
    """Whether arms are in the bytes that tell of them, (...) each; byte arm // 8 tells of an arm."""
    return (byte >> (7 - (arm & 7))) & 1 == 1


def _at(means: Any, version: Ints, context: Ints, num_arms: int) -> Floats:
    """Mean reward and costs of all arms in some rounds, (n, 1 + C, A)."""
    first = context * num_arms
    pairs = zip(version.tolist(), first.tolist(), strict=True)
    return np.stack([means[v][:, at : at + num_arms] for v, at in pairs])


def _feasible(values: Floats) -> Bools:
    """Where all costs are kept, (n, 1 + C, A) -> (n, A)."""
    return np.asarray((values[:, 1:] <= 0).all(axis=1))


def _best(available: Bools, values: Floats, price: Floats | None) -> Roster:
    """The arms of rounds, (n, A), and what is best among them, given (n, 1 + C, A) and prices, (n, A)."""
    reward, wanted = values[:, 0], np.asarray(available & _feasible(values))
    # Several times as fast as the `where` of max and min.
    best = np.where(wanted, reward, -np.inf).max(axis=1)
    worst = np.where(available, reward, np.inf).min(axis=1)
    rate = np.zeros(len(best)) if price is None else np.where(wanted, reward / price, 0.0).max(axis=1)
    return Roster(np.packbits(available, axis=-1), best, worst, np.maximum(rate, 0.0))
