"""A trace collects the rounds of an episode in the evaluation loop and turns them into a record."""

from collections import defaultdict
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import is_integer, is_number, is_text, require
from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.laws.changes import change_points_of
from bandit_envs.problem.setting import Setting
from gpbandits.evaluation.measures import RoundBlock, Running, followed
from gpbandits.evaluation.record import BLOCK, SUMMED, Record, Sums, one_each, ragged, recorded_in
from gpbandits.evaluation.signals import valued
from gpbandits.evaluation.truth import BestPlay, Covering, learnable

INTEGERS = ("delay", "segment", "context")
OF_SOME = ("spent", "shortfall", "moved", "strong", "weak")  # problems: with a budget, moves or duels


class Traits(NamedTuple):
    """Traits are the attributes that an agent declared in an episode, and the recorded rounds."""

    privileged: bool
    track: str | None
    window: float | None
    assumes_bound: bool
    rounds: Ints  # (r,) counted from 1
    logs: tuple[Any, ...] = ()  # (B,) of a run that is logged


class Trace:
    """A trace holds the true values of one episode of B trials at the recorded rounds.

    Args:
        setting: defines the unit of a window.
        num_trials: B; None for one environment without a trial axis.
        agent: the agent of the episode, with attributes `privileged` and `track` if it declares them.
        rounds: the recorded rounds, counted from 1; None is all. The last played one is always recorded.
        reach: safely reachable arms, (B, A), where they are defined.
        absent: how much better the best arm is than the best available one, (B, T); None where all are.
        drifting: whether functions differ within a segment, where no play has a simple regret.
    """

    def __init__(
        self,
        setting: Setting,
        num_trials: int | None,
        agent: Any,
        rounds: Ints | None = None,
        reach: Bools | None = None,
        absent: Floats | None = None,
        drifting: bool = False,
    ):
        self._setting, self._agent, self._rounds = setting, agent, rounds
        self._absent, self._drifting = absent, drifting
        self._covering = None if reach is None else Covering(reach)
        # true regret, violation and cost of all rounds in blocks, from which stops are valued
        self._whole: list[tuple[Floats, Floats, Floats]] | None = None if agent.stops is None else []
        self.batched, self.num_trials = num_trials is not None, num_trials or 1
        self.privileged: bool = bool(agent.privileged)
        self.track: str | None = agent.track
        named = self.track is None or is_text(self.track)
        require(named, "track of an agent", "None or text in one line", self.track)
        self.seconds = 0.0
        self.window: float | None = None  # None if the agent uses feedback of any delay
        self.played = 0  # rounds that are processed
        self.made: int | None = None  # rounds with a play, if the budget ended the trial
        self._filled = 0  # rows of the block, which are not
        self._block: dict[str, Any] = {}  # (rows, B, ...) each quantity of rounds
        self._actions: list[Any] = []  # of those rounds
        self._sums = defaultdict[str, Sums](Sums)
        self._moving = setting.movement is not None
        there = {"budget": setting.budget is not None, "movement": self._moving, "duels": setting.duel}
        measures = followed(lambda need: there.get(need or "", True))
        measures = [each for each in measures if rounds is not None or each.needs == "duels"]
        self._running = {measure: Running(measure) for measure in measures}
        self._totals: dict[str, list[Any]] = {measure.name: [] for measure in measures}
        self._best = BestPlay()
        self._contexts: dict[bytes, int] = {}  # observed ones, in the order of their first rounds
        self._kept = defaultdict[str, list[Any]](list)
        self._segment: Ints | None = None  # (B, 1) of the round before the block
        self._changes: list[list[int]] = [[] for _ in range(self.num_trials)]
        self._largest = np.zeros((self.num_trials, 1))  # regret that occurred

    def note(self, observation: Any, action: Any, info: dict[str, Any]) -> None:
        """Keep the context, the play's true values in the round's `oracle`, and the delivered costs."""
        oracle = info["oracle"]
        noted = {"regret": oracle["regret"], "delay": oracle["delay"], "segment": oracle["segment"]}
        costs = np.asarray(oracle["cost_mean"])
        if "feedback_cost" in info:
            observed = np.sum(info["feedback_cost"], axis=-2, where=info["feedback_mask"][..., None])
        else:
            observed = np.zeros(costs.shape)
        noted |= {"cost": costs, "observed_cost": observed}
        if self._setting.has_contexts:
            width = self._setting.pairs_width - self._setting.dim
            rows = np.array(observation).reshape(self.num_trials, -1)[:, :width]
            known = self._contexts
            context = np.array([known.setdefault(row.tobytes(), len(known)) for row in rows])
            noted["context"] = context if self.batched else context[0]
        if self._setting.budget is not None:
            spent = oracle.get("spent", 0.0)
            noted["spent"] = spent
            noted["shortfall"] = oracle["rate"] * spent - oracle["mean"] if "rate" in oracle else 0.0
        if self._moving:
            noted["moved"] = oracle.get("moved", 0.0)
        if self._setting.duel:
            noted["strong"] = oracle.get("strong_regret", oracle["regret"])
            noted["weak"] = oracle.get("weak_regret", oracle["regret"])
        self._store(noted, np.array(action))  # a copy: an agent may hand out the same array again and again

    def rest(self, horizon: int) -> None:
        """Fill the rounds up to the horizon after the budget is spent, without plays and feedback."""
        self.made, action = self.played + self._filled, self._actions[-1]
        nothing = {name: np.zeros_like(rows[0]) for name, rows in self._block.items()}
        nothing["delay"] = nothing["delay"] - 1  # never
        for name in {"segment", "context"} & nothing.keys():
            nothing[name] = self._block[name][self._filled - 1].copy()
        self._look()
        self._best.stop()
        for _ in range(self.made, horizon):
            self._store(nothing, action)

    def _store(self, noted: dict[str, Any], action: Any) -> None:
        """Write a round into the block: a few arrays of many rounds take less time than many arrays."""
        if self._filled == BLOCK:
            self._look()
        if not self._block:
            kinds = {name: np.int64 if name in INTEGERS else np.float64 for name in noted}
            self._block = {
                name: np.empty((BLOCK, *np.shape(value)), kinds[name]) for name, value in noted.items()
            }
        for name, value in noted.items():
            self._block[name][self._filled] = value
        self._actions.append(action)
        self._filled += 1

    def end(self, worst_regret: Floats | None) -> tuple[Record, Traits]:
        """Keep the last round and what the agent says of its run; return the record of the B trials.

        Where no play counts, simple regret is the largest possible regret of the round, (B, T), or the
        largest that occurred.
        """
        agent, last = self._agent, self.played + self._filled
        if self._rounds is not None:
            self._rounds = np.append(self._rounds[self._rounds < last], last)
        self._look()
        if self._covering is not None:
            self._covering.certify(agent.certified)
        kept: dict[str, Any] = {name: np.concatenate(parts, axis=1) for name, parts in self._kept.items()}
        rounds = kept.pop("round")[0]
        last = np.minimum(rounds, self.made or self.played)  # constant once a budget is spent
        worst = self._largest if worst_regret is None else self._to_best(worst_regret, 0)[:, last - 1]
        best = kept.pop("simple_regret")  # NaN where functions drift
        made = np.full(self.num_trials, self.played if self.made is None else self.made)
        alarms = [checked_alarms(each, self.played) for each in self._each(agent.alarms)]
        infeasible = [_checked_round(each, self.played) for each in self._each(agent.infeasible_since)]
        record = Record(
            **kept,
            simple_regret=np.where(np.isposinf(best), worst, best),
            seconds=np.full(self.num_trials, self.seconds / self.num_trials),
            changes=ragged(self._changes),
            alarms=ragged(alarms),
            infeasible=one_each(infeasible),
            played=None if self._setting.budget is None else made,
            covered=None if self._covering is None else self._covering.share,
            stopped=None if self._whole is None else valued(self._whole, agent.stops, worst[:, -1]),
            totals={name: np.concatenate(parts, axis=1) for name, parts in self._totals.items()} or None,
        )
        traits = Traits(self.privileged, self.track, self.window, bool(agent.assumes_bound), rounds)
        return record, traits

    def _each(self, said: Any) -> Any:
        """Return what an agent says of each trial; None of all where it says nothing."""
        if said is None:
            return [None] * self.num_trials
        return said if self.batched else [said]

    def _look(self) -> None:
        block, noted = slice(self.played, self.played + self._filled), self._noted()
        self._filled, self._actions, self.played = 0, [], block.stop
        for name, key in (("regret", "regret"), ("cost_mean", "cost")):
            finite = bool(np.isfinite(noted[key]).all())
            require(finite, f'info["oracle"]["{name}"] of the environment', "finite numbers", noted[key])
        if self._covering is not None:
            self._covering.play(noted["action"])
        regret, segment, recorded = noted["regret"], noted["segment"], recorded_in(self._rounds, block)
        violation = np.linalg.norm(np.maximum(noted["cost"], 0.0), axis=2)
        to_best = self._to_best(regret, block.start)
        if self._whole is not None:
            spent = noted.get("spent", np.ones_like(regret))
            self._whole.append((to_best.copy(), violation.copy(), spent.copy()))
        learnt = learnable(noted["delay"], self._asked_window(), self._setting, block.start)
        context = noted.get("context", np.zeros_like(segment))
        best = self._best.follow(to_best, learnt, violation == 0, context, segment)
        if self._drifting:
            best = np.full_like(best, np.nan)
        others = {name: noted[name] for name in OF_SOME if name in noted}
        seen = regret, noted["cost"], violation, noted["observed_cost"]
        rounds = RoundBlock(*seen, simple=best, start=block.start, **others)
        for measure, running in self._running.items():
            self._totals[measure.name].append(running.take(measure.values(rounds), recorded).copy())
        noted["violation"] = violation
        found: dict[str, Any] = {
            name: self._sums[name].take(noted[name], recorded) for name in SUMMED if name in noted
        }
        found |= {"simple_regret": best[:, recorded], "action": noted["action"][:, recorded]}
        found["round"] = block.start + 1 + recorded[None]
        for name, part in found.items():
            self._kept[name].append(part.copy())  # a view would keep the whole block in memory
        self._largest = np.maximum(self._largest, to_best.max(axis=1, keepdims=True))
        self._note_changes(segment, block.start)

    def _to_best(self, regret: Floats, start: int) -> Floats:
        """Return the regret to the best arm of all, available or not, of rounds from `start` on, (B, n)."""
        if self._absent is None:
            return regret
        return regret + self._absent[:, start : start + regret.shape[1]]

    def _noted(self) -> dict[str, Any]:
        """Return copies of the quantities of the block, (B, n, ...)."""
        found = {name: rows[: self._filled] for name, rows in self._block.items()}
        found["action"] = np.array(self._actions)
        axis = (lambda rows: np.swapaxes(rows, 0, 1)) if self.batched else (lambda rows: rows[None])
        return {name: np.array(axis(rows), order="C") for name, rows in found.items()}

    def _note_changes(self, segment: Ints, start: int) -> None:
        before = segment[:, :1] if self._segment is None else self._segment
        for changes, row in zip(self._changes, np.hstack([before, segment]), strict=True):
            changes.extend((start - 1 + change_points_of(row)).tolist())
        self._segment = segment[:, -1:]

    def _asked_window(self) -> float | None:
        window = self._agent.feedback_window
        valid = window is None or (is_number(window) and window >= 0)
        require(valid, "feedback_window of an agent", "None, 0 or positive, the same in all trials", window)
        same = self.played <= BLOCK or window == self.window
        require(same, "feedback_window of an agent", f"what it was in earlier rounds, {self.window}", window)
        self.window = None if window is None else float(window)
        return self.window


def without_oracle(info: dict[str, Any]) -> dict[str, Any]:
    """Return the info without "oracle", as `evaluate` passes it to agents."""
    seen = dict(info)
    seen.pop("oracle", None)
    seen.pop("_oracle", None)
    return seen


def checked_alarms(rounds: Any, horizon: int) -> Any:
    """Return alarms; raise unless they are ascending rounds of the trial, or None."""
    if rounds is None:
        return None
    valid = all(is_integer(round_) and 0 <= round_ < horizon for round_ in rounds)
    valid = valid and all(a < b for a, b in pairwise(rounds))
    require(valid, "alarms of an agent", f"a trial's ascending rounds in 0..{horizon - 1}", rounds)
    return rounds


def _checked_round(since: Any, horizon: int) -> Any:
    valid = since is None or (is_integer(since) and -1 <= since < horizon)
    require(valid, "infeasible_since of an agent", f"a trial's round in 0..{horizon - 1}, or -1", since)
    return since
