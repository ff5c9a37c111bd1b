"""The table of agents that detect changes: delays, missed changes and false alarms."""

import numpy as np

from gpbandits.evaluation.columns import Columns, by_agent
from gpbandits.evaluation.curves import Curves
from gpbandits.evaluation.marks import drawn_from
from gpbandits.evaluation.statistics import bootstrap_interval
from gpbandits.evaluation.table import Table


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
