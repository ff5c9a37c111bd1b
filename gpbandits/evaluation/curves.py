"""Curves derive regret, violation, time, changes and alarms from the records of agents, by label."""

import dataclasses
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bandit_envs.basics.arguments import from_extra
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.laws.changes import segments_of
from gpbandits.evaluation.comparison import SharedTrials
from gpbandits.evaluation.measures import MEASURES, NEVER, OURS, REFUSED, Metric, applies, metric_named
from gpbandits.evaluation.record import Record
from gpbandits.evaluation.signals import Detection, detection
from gpbandits.evaluation.statistics import ordered

Axis = Literal["round", "spent"]  # what a figure's curves are over
Legend = Literal[False, "outside", "direct"]
DIMENSIONS = ("agent", "trial", "round")


@dataclasses.dataclass(frozen=True, eq=False)
class Curves(SharedTrials):
    """Curves derive quantities from the records of a comparison; arguments are those of `SharedTrials`."""

    def running(self, name: str) -> dict[str, Any]:
        """Return a measure up to each recorded round, (B, T, ...) each, exact for any choice of these.

        Of a measure that needs a budget, costs of moves or duels there is nothing elsewhere.

        Raises:
            ValueError: the rounds between checkpoints were not counted, as in files of older versions.
        """
        found = self.held(name)
        if lacking := [label for label in self._having(name) if label not in found]:
            raise ValueError(
                f"{name} of {self.environment!r} was not counted between its checkpoints of "
                f"{', '.join(lacking)}, which an older version recorded; compute it again"
            )
        return found

    def held(self, name: str) -> dict[str, Any]:
        """Return a measure as `running`, of the agents alone whose records have it."""
        return {label: record.running(MEASURES[name]) for label, record in self._counted(name).items()}

    @property
    def uncounted(self) -> list[str]:
        """Return measures of ours that some record has, but did not count between checkpoints."""
        return [name for name in OURS if self._having(name).keys() - self._counted(name).keys()]

    def _having(self, name: str) -> dict[str, Record]:
        return {label: record for label, record in self.records.items() if record.has(MEASURES[name].needs)}

    def _counted(self, name: str) -> dict[str, Record]:
        measure, records = MEASURES[name], self._having(name)
        exact = measure.of is None or measure.linear or self.checkpoints is None
        return {label: each for label, each in records.items() if exact or name in (each.totals or {})}

    @cached_property
    def regret(self) -> dict[str, Floats]:
        """Return cumulative regret R_t = sum_{s <= t} f(x*) - f(x_s) of noiseless means, (B, T) each."""
        return self.running("regret")

    @cached_property
    def average_regret(self) -> dict[str, Floats]:
        """R_t / t, (B, T) each; once a budget is spent t is the number of plays that were made."""
        return self.averaged(self.regret)

    @property
    def simple_regret(self) -> dict[str, Floats]:
        """Return the least regret of the plays that count in round t, (B, T) each, else the largest possible.

        Plays count that violate no cost, were made in the context and segment (since the last change) of
        round t, and whose feedback was delivered by its end; for an agent in `windows`, within its window. So
        simple regret is finite and not negative, and it grows where context or segment change. The largest
        possible regret is that of all arms of round t; in other environments without `worst_regret`, the
        largest that occurred. Where arms come and go, it is to the best arm of all, available or not. Where
        functions drift within a segment no play of another round has a regret in this one, and it is NaN.
        """
        return self.running("simple_regret")

    @property
    def has_simple_regret(self) -> bool:
        """Return whether simple regret is defined: functions do not drift within segments."""
        return not all(np.isnan(record.simple_regret).all() for record in self.records.values())

    @property
    def costs(self) -> dict[str, Floats]:
        """Return noiseless constraint values of the plays, (B, T, C) each; sums between checkpoints."""
        return {label: record.cost for label, record in self.records.items()}

    @cached_property
    def violation(self) -> dict[str, Floats]:
        """Return V_t = || [sum_{s <= t} g(x_s)]^+ ||, (B, T) each, which slack lowers (Shi 2022, eq. 7)."""
        return _excess(self.running("summed_costs"))

    @cached_property
    def hard_violation(self) -> dict[str, Floats]:
        """Return sum_{s <= t} || [g(x_s)]^+ ||, (B, T) each, which is at least V_t and never falls."""
        return self.running("hard_violation")

    @cached_property
    def unsafe_plays(self) -> dict[str, Ints]:
        """Return the number of plays up to each round that violated a cost, (B, T) each."""
        return self.running("unsafe_plays")

    @property
    def first_unsafe(self) -> dict[str, Ints]:
        """Return the round, from 0, of the first play that violated a cost, (B,); -1 without any."""
        first = self.running("first_unsafe")
        return {label: np.where(each[:, -1] < NEVER, each[:, -1], -1) for label, each in first.items()}

    @property
    def stopped(self) -> dict[str, dict[str, Any]]:
        """Return the stops of each agent that has rules for it: rule -> `Stopped`."""
        return {label: dict(record.stopped) for label, record in self.records.items() if record.stopped}

    @property
    def coverage(self) -> dict[str, Floats]:
        """Return the share of the safely reachable arms that an agent certified or played, (B,) each.

        Rbar_0(S0) are the arms that can be certified from the safe seed with exact costs and their slopes,
        see `gpbandits.evaluation.truth.reachable`. It needs a safe seed and a finite set in one context
        without changes; otherwise the dict is empty. Agents declare certified arms in an attribute
        `certified`.
        """
        covered = {label: record.covered for label, record in self.records.items()}
        return {label: each for label, each in covered.items() if each is not None}

    @cached_property
    def noisy_violation(self) -> dict[str, Floats]:
        """Return || [sum_{s <= t} (g(x_s) + noise)]^+ || of delivered feedback, (B, T) (Shi 2022, app. D)."""
        return _excess(self.running("summed_observed_costs"))

    @property
    def actions(self) -> dict[str, Any]:
        """Return the played arms, (B, T), or points, (B, T, d), each."""
        return self.running("action")

    @property
    def seconds(self) -> dict[str, Floats]:
        """Return the seconds spent in act and update, (B,) each."""
        return {label: record.seconds for label, record in self.records.items()}

    @property
    def seconds_per_decision(self) -> dict[str, Floats]:
        """Return the seconds a round spent in act and update, (B,) each."""
        return {label: seconds / self.played[label] for label, seconds in self.seconds.items()}

    @cached_property
    def played(self) -> dict[str, Ints]:
        """Return the number of rounds played, (B,) each, below the horizon where a budget was spent."""
        whole = np.full(self.num_trials, self.horizon)
        return {x: whole if each.played is None else each.played for x, each in self.records.items()}

    @cached_property
    def spent(self) -> dict[str, Floats]:
        """Return the cost of plays up to each round, (B, T) each; empty where plays are free."""
        return self.running("spent")

    @cached_property
    def budget_regret(self) -> dict[str, Floats]:
        """Return sum_{s <= t} rho* k(x_s) - f(x_s), rho* = max f / k of the round, (B, T) each.

        If all rewards are negative, rho* is 0. For a fully spent budget B it is rho* B minus the rewards. A
        play that the budget cannot pay ends the trial, and what it leaves of the budget is not charged: see
        `spent`. Scores of leaderboards divide by that.
        """
        return self.running("budget_regret")

    @cached_property
    def moved(self) -> dict[str, Floats]:
        """Return the cost of moves up to each round, (B, T) each; empty where moves are free."""
        return self.running("moved")

    @cached_property
    def total_loss(self) -> dict[str, Floats]:
        """Return R_t plus the cost of moves up to each round, (B, T) each; empty where moves are free."""
        return self.running("total_loss")

    @cached_property
    def segments(self) -> Ints:
        """Return the number of changes up to each recorded round, (B, T)."""
        whole = [segments_of(rounds, self.horizon) for rounds in self.changes]
        return np.stack(whole)[:, self.rounds - 1]

    @property
    def alarms(self) -> dict[str, list[Ints]]:
        """Return the rounds, counted from 0, after which a detecting agent alarmed; one array a trial."""
        return {
            label: [np.array(rounds, dtype=np.int64) for rounds in record.alarms]
            for label, record in self.records.items()
            if all(rounds is not None for rounds in record.alarms)
        }

    @property
    def infeasible(self) -> dict[str, Ints]:
        """Return the round, from 0, in which an agent first found the costs infeasible, (B,).

        It is -1 in a trial where it never did; agents that do not test feasibility are left out.
        """
        return {
            label: record.infeasible.astype(np.int64)
            for label, record in self.records.items()
            if all(round_ is not None for round_ in record.infeasible)
        }

    @cached_property
    def detections(self) -> dict[str, Detection]:
        """Return detection delays, missed changes and false alarms of each detecting agent."""
        return {label: detection(alarms, self.changes, self.horizon) for label, alarms in self.alarms.items()}

    @property
    def main_metric(self) -> Metric:
        """Return the metric of ranks: budget regret where plays have a cost, else cumulative regret.

        With a budget, an agent that spends it fast makes few plays, whose cumulative regret is small.
        """
        return "budget_regret" if self.spent else "regret"

    @property
    def main(self) -> dict[str, Floats]:
        """Return the curves of `main_metric`, (B, T) each."""
        return self.curves(self.main_metric)

    @property
    def asked(self) -> Metric | None:
        """Return the metric that ranks agents before regret, None without constraints.

        It is hard violation, or violation, which slack lowers, if constraints hold for average costs.
        """
        if not self.num_constraints:
            return None
        return "violation" if self.long_term else "hard_violation"

    @cached_property
    def ordered(self) -> list[str]:
        """Return labels in the order of tables, legends and standings: by `asked`, then by `main_metric`.

        See `statistics.ordered`: regret decides among agents whose violations do not differ significantly.
        Under a budget both are a unit of what was spent.
        """
        return ordered(*map(self.at_end, [self.main] + ([self.curves(self.asked)] if self.asked else [])))

    def at_end(self, curves: dict[str, Floats]) -> dict[str, Floats]:
        """Return last values, (B,) each, under a budget a unit of what was spent, the largest if it is 0."""
        ends = {label: curve[:, -1] for label, curve in curves.items()}
        if not self.spent:
            return ends
        paid = {label: self.spent[label][:, -1] for label in ends}
        rates = {x: end / np.where(paid[x] > 0.0, paid[x], np.inf) for x, end in ends.items()}
        most = max(float(rate.max()) for rate in rates.values())
        return {label: np.where(paid[label] > 0.0, rate, most) for label, rate in rates.items()}

    @property
    def baseline(self) -> str:
        """Return the first comparable agent in order, the default of differences; unfit ones are last."""
        return min(self.ordered, key=lambda label: (label in self.unfit, not self.comparable(label)))

    def curves(self, metric: Metric = "regret") -> dict[str, Floats]:
        """Regret or violation by metric, (B, T) each; the averages are over the rounds played so far."""
        found = metric_named(metric)
        if found.needs in REFUSED and not applies(found.needs, self):
            raise ValueError(f'metric "{metric}" needs {REFUSED[found.needs]}, got {self.environment}')
        return found.of(self)

    def averaged(self, sums: dict[str, Floats]) -> dict[str, Floats]:
        """Return a time average up to each round, of the plays that were made, (B, T) each."""
        made = {
            label: np.minimum(self.rounds, np.maximum(played, 1)[:, None])
            for label, played in self.played.items()
        }
        return {label: values / made[label] for label, values in sums.items()}


def _excess(sums: dict[str, Floats]) -> dict[str, Floats]:
    return {label: np.linalg.norm(np.maximum(each, 0.0), axis=2) for label, each in sums.items()}


def to_dataset(result: Curves) -> Any:
    """Return recorded values by agent, trial and round, (agents, B, T), and what belongs to trials alone."""
    with from_extra("query", "datasets of xarray"):
        import xarray as xr

    records = list(result.records.values())
    columns = {
        "regret": np.stack(list(result.regret.values())),
        "simple_regret": np.stack([record.simple_regret for record in records]),
        "round_regret": np.stack([record.regret for record in records]),
        "round_violation": np.stack([record.violation for record in records]),
    }
    data: dict[str, Any] = {name: (DIMENSIONS, values) for name, values in columns.items()}
    actions = np.stack([record.action for record in records])
    extra = ("coordinate",) if actions.ndim == 4 else ()
    data["action"] = ((*DIMENSIONS, *extra), actions)
    if result.num_constraints:
        costs = np.stack([record.cost for record in records])
        data["round_cost"] = ((*DIMENSIONS, "constraint"), costs)
    data["seconds"] = (DIMENSIONS[:2], np.stack([record.seconds for record in records]))
    trials = np.arange(result.first_trial, result.first_trial + result.num_trials)
    axes = {"agent": result.agents, "trial": trials, "round": result.rounds}
    return xr.Dataset(data, axes, {"environment": result.environment, "seed": result.seed})
