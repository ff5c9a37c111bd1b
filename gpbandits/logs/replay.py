r"""Replay a learning agent on a log: rows whose action it would not have chosen are passed over.

The agent sees the context of a row and chooses. If it chooses the row's action, the row is accepted with
probability c / p_t, p_t the row's propensity and c the least of all: the agent learns its reward and goes
on. Else the row is as if it had never been. Where rows are independent of each other and contexts and
rewards do not change over time, what the agent meets has the same distribution as if it had played itself
(Li et al. 2011, Theorem 1, for uniform propensities; Dudik et al. 2012 for others). A row is accepted with
probability c whatever the agent does, so n rows give about c n rounds.

A delay is kept in rows: a reward that was observed after k more rows is observed after k more rounds of the
agent, as if it had played every row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.agent.generators import preserved_generators
from agents.protocol import adapted
from agents.registry import AgentFactory
from bandit_envs.basics.arguments import require
from bandit_envs.basics.types import Bools, Ints
from bandit_envs.problem.feedback import delivery
from bandit_envs.problem.setting import Setting
from gpbandits.logs.log import PlayLog

MOST = 20_000  # pairs of context and action that an agent plays on
SLACK = 2.0  # stds by which the number of rounds lies below its expectation
NEVER = -1


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
) -> tuple[Ints, int]:
    """Play an agent on some rows of a log, in their order, for at most so many rounds.

    In each row it chooses among the actions that are allowed, see `allowed_actions`. Return the accepted rows
    in their order, (h,), and the number of rows that were read until the last of them.
    """
    setting = setting_of(log, horizon)
    delay, context = delays_in_rows(log), log.contexts[1].tolist()
    uniform = np.random.default_rng([seed, 1]).random(len(part))
    passes = uniform * log.propensity[part] < log.propensity.min()
    rows, due, last = list[int](), dict[int, list[int]](), 0  # rounds by that of their delivery
    with preserved_generators():
        player = _Player(factory, setting, seed, None if allowed is None else allowed[0])
        offered = np.zeros(len(log), dtype=np.int64) if allowed is None else allowed[1]
        for place, row in enumerate(part.tolist()):
            if player.choice(context[row], int(offered[row])) != log.action[row] or not passes[place]:
                continue
            last, t = place + 1, len(rows)
            rows.append(row)
            if 0 <= delay[row] <= setting.max_delay:
                due.setdefault(t + int(delay[row]), []).append(t)
            delivered = np.array(due.pop(t, []), dtype=np.int64)
            values, no_costs = log.reward[[rows[k] for k in delivered]], np.empty((len(delivered), 0))
            info = delivery(t, delivered, values, no_costs, setting.max_delay)
            player.update(context[row], int(log.action[row]), info)
            if len(rows) == horizon:
                break
        player.agent.close()
    return np.array(rows, dtype=np.int64), last


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
