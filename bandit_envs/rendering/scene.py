"""What a picture of a trial shows: the truth, the plays and what has arrived of them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.laws.changes import change_points_of
from bandit_envs.problem.decisions import Decisions, unit_grid
from bandit_envs.problem.single import SingleSimulator
from bandit_envs.problem.trial import Trial

FINENESS = {1: 201, 2: 48**2}  # points at which a function on a box is drawn; beyond, its anchors


@runtime_checkable
class Believer(Protocol):
    """An agent that says what it believes of the arms of a finite set."""

    def posterior(self, observation: Any) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the mean reward in the observed context, (A,) each."""
        ...


@runtime_checkable
class CostBeliever(Protocol):
    """An agent that says what it believes of the reward and of the costs, each by itself."""

    def beliefs(self, observation: Any) -> list[tuple[Floats, Floats]] | None:
        """Mean and standard deviation of the reward and of each cost, (A,) each; None if it has one model."""
        ...


class Scene(NamedTuple):
    """A trial in its current context and segment; M drawn points, n plays in that context and segment."""

    name: str
    features: Floats  # (M, d)
    truth: Floats  # (M,) mean reward
    feasible: Bools  # (M,)
    plays: Floats  # (n, d)
    means: Floats  # (n,) mean reward of each play
    observed: Floats  # (n,) what was or will be observed
    arrived: Bools  # (n,)
    lost: Bools  # (n,) never arrives; the others that have not arrived are pending
    optimum: float  # NaN where no round has this context and these functions
    total: int  # plays in all contexts and segments
    horizon: int
    regrets: Floats  # (total,) of the plays in all contexts and segments
    changes: Ints  # rounds in which a segment begins, past and future, the first one apart
    belief: tuple[Floats, Floats] | None  # an agent's mean and deviation at the drawn points, (M,) each
    costs: Floats  # (C, M) mean costs
    cost_beliefs: tuple[
        tuple[Floats, Floats], ...
    ]  # the same of each cost, where the agent models them apart
    reward: float  # that arrived in the last round
    arrivals: int  # in the last round

    @classmethod
    def of(cls, simulator: SingleSimulator, agent: object = None) -> Scene:
        """The scene of a simulator of one trial; with the belief of an agent, if it has one to tell."""
        trial = simulator.trials[0]
        if trial is None:
            raise RuntimeError("render was called before reset; call reset first")
        total, horizon = int(simulator.round[0]), simulator.problem.horizon
        now = min(total, horizon - 1)  # after the last round the next context is shown, in the last segment
        version, context = int(trial.version[now]), int(trial.context[total])
        here = (trial.segment[:total] == trial.segment[now]) & (trial.context[:total] == context)
        due, observed = simulator.due[0, :total], simulator.observed[0, :total, 0]
        means = simulator.earned[0, :total]
        arriving = due == total - 1
        features, values = _truth(simulator.problem.decisions, trial, version, context)
        believed = _beliefs(agent, simulator.views[context], len(features), len(values) - 1)
        return cls(
            name=simulator.problem.name,
            features=features,
            truth=values[0],
            feasible=np.asarray((values[1:] <= 0).all(axis=0)),
            plays=_points(simulator, trial, here),
            means=means[here],
            observed=observed[here],
            arrived=((due >= 0) & (due < total))[here],
            lost=(due < 0)[here],
            optimum=_optimum(trial, version, context),
            total=total,
            horizon=horizon,
            regrets=trial.optimum[:total] - means,
            changes=change_points_of(trial.segment),
            belief=believed[0] if believed else None,
            costs=values[1:],
            cost_beliefs=believed[1:],
            reward=float(observed[arriving].sum()),
            arrivals=int(arriving.sum()),
        )

    @property
    def since(self) -> str:
        """Since when the functions are as they are, in words; empty before any change."""
        past = self.changes[self.changes <= min(self.total, self.horizon - 1)]
        return f"last change at round {past[-1]}" if len(past) else ""

    @property
    def regret(self) -> float:
        """Of all plays."""
        return float(self.regrets.sum())

    @property
    def order(self) -> Floats:
        """Positions of the drawn points on a line, (M,): the feature itself, or the rank of the truth."""
        if self.features.shape[1] == 1:
            return self.features[:, 0]
        return np.argsort(np.argsort(self.truth, kind="stable"), kind="stable").astype(np.float64)

    @property
    def places(self) -> Floats:
        """Positions of the plays on the same line, (n,)."""
        if self.features.shape[1] == 1:
            return self.plays[:, 0]
        # A play is found by its mean, which rounding may have moved; on a box it lies between drawn points.
        slack = 1e-9 * max(float(np.abs(self.truth).max()), 1.0)
        return np.searchsorted(np.sort(self.truth), self.means - slack).astype(np.float64)

    @property
    def best(self) -> int:
        """Index of the best feasible drawn point."""
        return int(np.where(self.feasible, self.truth, -np.inf).argmax())


def _truth(decisions: Decisions, trial: Trial, version: int, context: int) -> tuple[Floats, Floats]:
    """Drawn points, (M, d), and mean reward and costs there, (1 + C, M)."""
    if not decisions.continuous:
        here = slice(context * decisions.num_arms, (context + 1) * decisions.num_arms)
        return decisions.arms, trial.means[version][:, here]
    points = _drawn_points(decisions)
    located = decisions.with_context(context, points)
    return points, np.array([function(located) for function in trial.between[version]])


def _beliefs(agent: object, observation: Floats, size: int, costs: int) -> tuple[tuple[Floats, Floats], ...]:
    """What the agent believes of the reward and of each cost; nothing if it does not say.

    Nothing either where it says it of other points than those drawn. Under constraints `beliefs` goes first:
    `posterior` of one that has both may be of a penalised sum, which is no belief about the reward.
    """
    if costs and isinstance(agent, CostBeliever):
        told = agent.beliefs(observation) or []
        told = told if len(told) in (1, 1 + costs) else []  # an agent may ignore the costs
    else:
        told = [agent.posterior(observation)] if isinstance(agent, Believer) else []
    return tuple(told) if all(len(mean) == size for mean, _ in told) else ()


def _optimum(trial: Trial, version: int, context: int) -> float:
    rounds = (trial.version == version) & (trial.context[:-1] == context)
    return float(trial.optimum[rounds][0]) if rounds.any() else float("nan")


def _drawn_points(decisions: Decisions) -> Floats:
    assert decisions.low is not None
    assert decisions.high is not None
    dim = len(decisions.low)
    if dim not in FINENESS:
        return decisions.arms
    return decisions.low + (decisions.high - decisions.low) * unit_grid(FINENESS[dim], dim)


def _points(simulator: SingleSimulator, trial: Trial, here: Bools) -> Floats:
    """Features of the chosen plays, (n, d)."""
    actions = simulator.actions[0, : len(here)][here]
    return trial.setting.to_point(actions if trial.setting.continuous else actions.astype(np.int64))
