"""Policies on a log: probabilities of one that does not learn, and the replay of an agent that does.

In a replay the agent sees the context of a row and chooses. If it chooses the row's action, the row is
accepted with probability c / p_t, p_t the row's propensity and c the least of all: the agent learns its
reward and goes on. Else the row is as if it had never been. Where rows are independent of each other and
contexts and rewards do not change over time, what the agent meets has the same distribution as if it had
played itself (Li et al. 2011, Theorem 1, for uniform propensities; Dudik et al. 2012 for others). A row is
accepted with probability c whatever the agent does, so n rows give about c n rounds.

A delay is kept in rows: a reward that was observed after k more rows is observed after k more rounds of the
agent, as if it had played every row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agents.agent.generators import preserved_generators
from agents.protocol import adapted
from agents.registry import AgentFactory
from bandit_envs.basics.arguments import is_integer, require
from bandit_envs.basics.csv_files import row_error
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.problem.feedback import delivery
from bandit_envs.problem.setting import Setting
from gpbandits.logs.log import PlayLog, require_rows

ROUNDING = 1e-6  # by which probabilities may miss a sum of 1
CHUNK = 100_000  # contexts that are asked together
MOST = 20_000  # pairs of context and action that an agent plays on
SLACK = 2.0  # stds by which the number of rounds lies below its expectation
NEVER = -1


@dataclass(frozen=True)
class ContextPolicy:
    """Choose by the context.

    Args:
        probabilities: contexts (m, dz) -> probabilities of the actions (m, A).

    Example:
        >>> policy = ContextPolicy(lambda x: np.column_stack([x[:, 0] > 0, x[:, 0] <= 0]).astype(float))
    """

    probabilities: Callable[[Floats], Any]


FixedPolicy = ContextPolicy | Floats  # of an array, (A,) in every context, or (n, A) a row of the log


def is_fixed(policy: Any) -> bool:
    """Return whether this is a policy that does not learn: a `ContextPolicy`, or numbers."""
    if isinstance(policy, ContextPolicy):
        return True
    numbers = isinstance(policy, list | tuple | np.ndarray)
    require(not numbers or len(policy), "policy", "a probability for each action", policy)
    numbers = numbers and not isinstance(policy[0], str)
    return numbers and np.asarray(policy, dtype=object).ravel()[0] is not None and not callable(policy[0])


def probabilities_of(policy: Any, log: PlayLog) -> Floats:
    """Return the policy's probability of every action in each row, (n, A); of one for all rows a view."""
    size = len(log), log.num_actions
    if isinstance(policy, ContextPolicy):
        contexts, row = log.contexts
        parts = [contexts[start : start + CHUNK] for start in range(0, len(contexts), CHUNK)]
        table = np.concatenate([_checked(policy.probabilities(x), (len(x), size[1])) for x in parts])
        return np.broadcast_to(table, size) if len(table) == 1 else table[row]
    given = np.asarray(policy, dtype=np.float64)
    if given.ndim == 1:
        return np.broadcast_to(_checked(given[None], (1, size[1])), size)
    return _checked(given, size)


def _checked(values: Any, shape: tuple[int, int]) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    require(found.shape == shape, "policy", f"probabilities of shape {shape}", found.shape)
    right = (found >= 0.0).all(axis=1) & (np.abs(found.sum(axis=1) - 1.0) <= ROUNDING)
    wrong = np.flatnonzero(~right)
    if len(wrong):
        complaint = f"must have probabilities >= 0 that sum to 1, got {found[wrong[0]]}"
        raise row_error(int(wrong[0]), complaint) if len(found) > 1 else ValueError(f"policy {complaint}")
    return found


def allowed_actions(log: PlayLog, never: Sequence[Any] = ()) -> tuple[Bools, Ints] | None:
    """Return the different masks of actions that may be chosen, (S, A), and the index of each row's, (n,).

    None where all may be chosen in every row.
    """
    barred = _codes(log, never)
    if log.available is None and not barred:
        return None
    masks, row = log.available_sets
    allowed = masks.copy()
    allowed[:, barred] = False
    left = f"must have an available action beside those that are never chosen ({', '.join(map(str, never))})"
    some: Bools = np.logical_or.reduce(allowed, axis=1)
    require_rows(some[row], left, [log.actions[a] for a in log.action])
    return allowed, row


def restricted(probabilities: Floats, allowed: tuple[Bools, Ints] | None) -> Floats:
    """Return probabilities of the actions that may be chosen alone, over their sum, (n, A)."""
    if allowed is None:
        return probabilities
    masks, row = allowed
    kept = np.where(masks[row], probabilities, 0.0)
    total = kept.sum(axis=1, keepdims=True)
    words = "must have an available action that the policy chooses with some probability"
    require_rows(total[:, 0] > 0.0, words, total[:, 0])
    return kept / total


def _codes(log: PlayLog, never: Sequence[Any]) -> list[int]:
    listed = isinstance(never, list | tuple | set)
    known = {label: code for code, label in enumerate(log.actions)}
    codes = [int(a) if is_integer(a) else known.get(str(a), -1) for a in never] if listed else [-1]
    usable = all(0 <= code < log.num_actions for code in codes)
    require(usable, "never", f"a list of actions among {', '.join(log.actions[:20])}", never)
    return codes


class Replayed(NamedTuple):
    """Hold the rounds of an agent on a part of a log."""

    rows: Ints  # (h,) accepted rows of the part, in their order
    read: int  # rows until the last round


def rounds_of(log: PlayLog, parts: int = 1) -> int:
    """Return a number of rounds that 98 of 100 replays of one of so many parts of the log reach."""
    count, share = len(log) // parts, float(log.propensity.min())
    return int(max(count * share - SLACK * np.sqrt(count * share * (1.0 - share)), 1.0))


def setting_of(log: PlayLog, horizon: int) -> Setting:
    """Return what an agent may know before it plays: actions, contexts, rounds and the longest delay."""
    contexts = log.contexts[0]
    size = len(contexts) * log.num_actions
    remedy = f"at most {MOST} pairs of context and action for a learning agent; round the contexts"
    require(size <= MOST, "log", remedy, size)
    arms = np.eye(log.num_actions) if log.arms is None else log.arms
    longest = int(delays_in_rows(log).max())
    return Setting(
        arms=arms,
        contexts=contexts if contexts.shape[1] else None,
        horizon=horizon,
        max_delay=max(min(longest, horizon - 1), 0),
    )


def delays_in_rows(log: PlayLog) -> Ints:
    """Return how many further rows were played before each reward was observed, (n,); -1 is never."""
    first = np.searchsorted(log.time, np.where(log.is_delivered, log.delivered, np.inf), side="left")
    behind = np.maximum(first - np.arange(len(log)) - 1, 0)
    return np.where(log.is_delivered, behind, NEVER)


def replayed(
    log: PlayLog,
    factory: AgentFactory,
    part: Ints,
    horizon: int,
    seed: int,
    allowed: tuple[Bools, Ints] | None = None,
) -> Replayed:
    """Play an agent on some rows of a log, in their order, for at most so many rounds.

    In each row it chooses among the actions that are allowed, see `allowed_actions`.
    """
    setting = setting_of(log, horizon)
    delay, context = delays_in_rows(log), log.contexts[1].tolist()
    uniform = np.random.default_rng([seed, 1]).random(len(part))
    passes = uniform * log.propensity[part] < log.propensity.min()
    rounds, last = _Rounds(setting.max_delay), 0
    with preserved_generators():
        player = _Player(factory, setting, seed, None if allowed is None else allowed[0])
        offered = np.zeros(len(log), dtype=np.int64) if allowed is None else allowed[1]
        for place, row in enumerate(part.tolist()):
            if player.choice(context[row], int(offered[row])) != log.action[row] or not passes[place]:
                continue
            last = place + 1
            player.update(context[row], int(log.action[row]), rounds.play(row, int(delay[row]), log.reward))
            if len(rounds.rows) == horizon:
                break
        player.agent.close()
    return Replayed(np.array(rounds.rows, dtype=np.int64), last)


class _Player:
    """Ask an agent once a round, context and set of actions; of rows passed over it learns nothing."""

    def __init__(self, factory: AgentFactory, setting: Setting, seed: int, sets: Bools | None = None):
        self.agent = adapted(factory(setting))
        self.agent.reset(seed)
        self._seen = setting.scaled_contexts
        self._sets = np.ones((1, setting.decisions.num_arms), dtype=bool) if sets is None else sets
        self._offers, self._several = sets is not None, len(self._seen) * len(self._sets) > 1
        asks = not (self._several and self.agent.holds_choice)
        wanted = "an agent that chooses anew for another row; reinforcement learners do not"
        require(asks, "policy", wanted, type(self.agent).__name__)
        self._chosen: dict[tuple[int, int], int] = {}

    def choice(self, context: int, offered: int = 0) -> int:
        """Return the arm for a context and a set of actions, by their indices, in this round."""
        key = context, offered
        if key not in self._chosen:
            if self._several or self._offers:  # so that an arm which was chosen for another one is forgotten
                restricted = self.agent.offer(self._sets[offered])
                wanted = "an agent with the feature availability, where some actions may not be chosen"
                require(restricted or not self._offers, "policy", wanted, type(self.agent).__name__)
            self._chosen[key] = int(self.agent.act(self._seen[context]))
        return self._chosen[key]

    def update(self, context: int, arm: int, info: dict[str, Any]) -> None:
        """Learn from a round with this context, in which the chosen arm was played."""
        self.agent.update(self._seen[context], arm, float(info["feedback_reward"].sum()), info)
        self._chosen = {}


class _Rounds:
    """Keep the rounds of an agent, and deliver rewards after their delays."""

    def __init__(self, max_delay: int):
        self.rows: list[int] = []
        self._max_delay, self._due = max_delay, dict[int, list[int]]()

    def play(self, row: int, delay: int, reward: Floats) -> dict[str, Any]:
        """Play a row, and return the `info` with what its round delivers."""
        t = len(self.rows)
        self.rows.append(row)
        if 0 <= delay <= self._max_delay:
            self._due.setdefault(t + delay, []).append(t)
        due = np.array(self._due.pop(t, []), dtype=np.int64)
        values = reward[[self.rows[k] for k in due]] if len(due) else np.empty(0)
        return delivery(t, due, values, np.empty((len(due), 0)), self._max_delay)
