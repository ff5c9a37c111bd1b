"""Tables of agents that stop, and of agents that detect changes, one row a rule or an agent."""

from typing import Any

import numpy as np

from agents.stopping.by_name import NEVER
from bandit_envs.basics.arguments import require, require_positive
from bandit_envs.basics.types import Bools
from gpbandits.evaluation.columns import Columns, by_agent
from gpbandits.evaluation.curves import Curves
from gpbandits.evaluation.marks import drawn_from
from gpbandits.evaluation.signals import Stopped
from gpbandits.evaluation.statistics import bootstrap_interval, wilson_interval
from gpbandits.evaluation.table import Table

STOPPED = (
    "A rule is asked after every round, and the agent plays on. Stop: rounds until a rule first said stop, "
    "the horizon where it never did; regret: of the play that is recommended then, below 0 only where it "
    "breaks a cost; violating: share of runs that recommend such a play. A promise is broken where the play "
    "breaks a cost or its regret is above the rule's eps, of the runs that stopped (Wilson's intervals). "
    "Cost-adjusted: regret + "
    "price x cost of all plays until the stop; hindsight: the least of any round."
)


def stopping_table(result: Curves, price: float | None = None) -> Table:
    """Return stop, regret and cost of every agent's rules, one row a rule; see `Result.stopping_table`."""
    found = result.stopped
    require(len(found) > 0, "stopping", "given to `evaluate`, or to an agent, for a table of stops", None)
    if price is not None:
        require_positive("price", price, "it is what a unit of cost is worth, in units of the reward")
    rows = {f"{agent}, {rule}": each for agent, rules in found.items() for rule, each in rules.items()}
    columns: Columns = {
        "stop": lambda x: bootstrap_interval(np.where(rows[x].after == NEVER, result.horizon, rows[x].after)),
        "never": lambda x: float((rows[x].after == NEVER).mean()),
        "regret": lambda x: bootstrap_interval(rows[x].regret),
        "violating": lambda x: _share(rows[x].violates),
        "cost-adjusted": lambda x: _adjusted(rows[x], price),
        "hindsight": lambda x: None if rows[x].price is None else bootstrap_interval(rows[x].hindsight),
        "promise broken": lambda x: _broken(rows[x]),
    }
    cells = tuple((x, *(cell(x) for cell in columns.values())) for x in rows)
    title = f"{result.environment}: stopping"
    return Table(title, ("agent, rule", *columns), cells, (STOPPED,), name="stopping")


def _adjusted(rule: Stopped, price: float | None) -> Any:
    charged = rule.price if price is None else price
    return None if charged is None else bootstrap_interval(rule.adjusted(charged))


def _broken(rule: Stopped) -> Any:
    return None if rule.broken is None or not len(rule.broken) else _share(rule.broken)


def _share(of: Bools) -> Any:
    return wilson_interval(np.asarray(of.mean()), len(of))


def detection_table(result: Curves) -> Table:
    """Return a table with one row for each agent that detects changes."""
    found = result.detections
    columns: Columns = {
        "delay": lambda x: found[x].mean_delay,
        "missed": lambda x: found[x].missed_share,
        "false alarms/run": lambda x: bootstrap_interval(found[x].false_alarms.astype(np.float64)),
        "false alarms/round": lambda x: found[x].false_alarm_rate,
        "runs with one": lambda x: found[x].false_run_share,
    }
    changes = sum(map(len, result.changes))
    notes = (
        f"{changes} changes in {result.num_trials} trials of {result.horizon} rounds, {drawn_from(result)}.",
        "Delay: rounds from a change to the first alarm before the next change; without one the change is "
        "missed. Every other alarm is false.",
    )
    return by_agent(result, "detection", [*columns], [*columns.values()], notes, found)
