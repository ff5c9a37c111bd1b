"""Collect the contents of pictures of a trial: truth, plays, feedback; and the axes that a film shares."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.types import Bools, Floats, Ints
from bandit_envs.kernels.kernels import TableKernel
from bandit_envs.laws.changes import change_points_of
from bandit_envs.problem.decisions import Decisions, unit_grid
from bandit_envs.problem.simulator import SingleSimulator
from bandit_envs.problem.trial import Trial

FINENESS = {1: 201, 2: 48**2}  # points at which a function on a box is drawn; in more dimensions, its anchors

BAND_STDS = 2.0  # of the drawn band, where an agent has none of its own
MARGIN = 0.05  # share of a range that is added at each end
NEAR = 0.4  # a band is seen so far beyond the rewards, in shares of their range; a prior's may be far wider
DEEPEST = 3.0  # the axis of scores reaches so many times as far below the maximum as the median lies:
# logarithms of improvements have deep valleys
Range = tuple[float, float]


class Scene(NamedTuple):
    """Hold a trial in its current context and segment; M drawn points, n plays there."""

    name: str
    features: Floats  # (M, d)
    truth: Floats  # (M,) mean reward
    feasible: Bools  # (M,)
    plays: Floats  # (n, d)
    means: Floats  # (n,) mean reward of each play
    observed: Floats  # (n,) observations, delivered or not
    arrived: Bools  # (n,)
    lost: Bools  # (n,) never delivered; the other undelivered ones are pending
    optimum: float  # NaN if no round has this context and these functions
    total: int  # plays in all contexts and segments
    horizon: int
    regrets: Floats  # (total,) of the plays in all contexts and segments
    changes: Ints  # rounds in which a segment begins, past and future, without the first
    belief: tuple[Floats, Floats] | None  # an agent's mean and std at the drawn points, (M,) each
    costs: Floats  # (C, M) mean costs
    cost_beliefs: tuple[tuple[Floats, Floats], ...]  # of each cost, if modelled separately
    reward: float  # delivered in the last round
    arrivals: int  # in the last round
    context: str = ""  # "context 2 of 5"; "" where there is one
    title: str = ""  # names agent and environment; "" is the name of the problem
    half: Floats | None = None  # (M,) half-width of the agent's own band; None draws 2 std
    scores: Floats | None = None  # (M,) acquisition function of the next choice
    following: Floats | None = None  # (d,) the next play; None after the last
    joined: bool = True  # whether neighbours on a line belong together; sensors have no order

    @classmethod
    def of(cls, simulator: SingleSimulator, agent: object = None) -> "Scene":
        """Return the scene of a simulator of one trial, with the posterior of an agent, if it has one."""
        trial = simulator.trials[0]
        if trial is None:
            raise RuntimeError("render was called before reset; call reset first")
        total, horizon = int(simulator.round[0]), simulator.problem.horizon
        now = min(total, horizon - 1)  # after the last round the next context is shown, in the last segment
        version, context = int(trial.version[now]), int(trial.context[total])
        contexts = len(simulator.views)
        here = (trial.segment[:total] == trial.segment[now]) & (trial.context[:total] == context)
        due, observed = simulator.due[0, :total], simulator.observed[0, :total, 0]
        means = simulator.earned[0, :total]
        arriving = due == total - 1
        alike = (trial.version == version) & (trial.context[:-1] == context)  # rounds
        features, values = _truth(simulator.problem.decisions, trial, version, context)
        believed = _beliefs(agent, simulator.views[context], len(features), len(values) - 1)
        actions = simulator.actions[0, :total][here]
        plays = trial.setting.to_point(actions if trial.setting.continuous else actions.astype(np.int64))
        shown: dict[str, Any] = {"means": means[here], "observed": observed[here]}
        shown |= {"arrived": ((due >= 0) & (due < total))[here], "lost": (due < 0)[here]}
        if trial.setting.duel:  # beliefs are of utilities, and not of the chances that are drawn
            plays, shown, believed = plays.reshape(-1, plays.shape[-1]), _sides(shown), ()
        return cls(
            name=simulator.problem.name,
            features=features,
            truth=values[0],
            feasible=np.asarray((values[1:] <= 0).all(axis=0)),
            plays=plays,
            **shown,
            optimum=float(trial.optimum[alike][0]) if alike.any() else float("nan"),
            total=total,
            horizon=horizon,
            regrets=trial.optimum[:total] - means,
            changes=change_points_of(trial.segment),
            belief=believed[0] if believed else None,
            costs=values[1:],
            cost_beliefs=believed[1:],
            reward=float(observed[arriving].sum()),
            arrivals=int(arriving.sum()),
            context=f"context {context + 1} of {contexts}" if contexts > 1 else "",
            joined=not isinstance(simulator.problem.kernel, TableKernel),
        )

    @property
    def band(self) -> Floats:
        """Return the half-width of the drawn band, (M,): the agent's own, else 2 std."""
        assert self.belief is not None
        return BAND_STDS * self.belief[1] if self.half is None else self.half

    @property
    def pending(self) -> Bools:
        """Return which plays have feedback that is neither delivered nor lost, (n,)."""
        return ~self.arrived & ~self.lost

    @property
    def since(self) -> str:
        """Return the round of the last change in words; "" before any change."""
        past = self.changes[self.changes <= min(self.total, self.horizon - 1)]
        return f"last change at round {past[-1]}" if len(past) else ""

    @property
    def regret(self) -> float:
        """Return the regret of all plays."""
        return float(self.regrets.sum())

    @property
    def order(self) -> Floats:
        """Return positions of the drawn points on a line, (M,): the feature, or the rank of the truth."""
        if self.features.shape[1] == 1:
            return self.features[:, 0]
        return np.argsort(np.argsort(self.truth, kind="stable"), kind="stable").astype(np.float64)

    @property
    def places(self) -> Floats:
        """Return positions of the plays on that line, (n,)."""
        if self.features.shape[1] == 1:
            return self.plays[:, 0]
        arms = {row.tobytes(): place for row, place in zip(self.features, self.order, strict=True)}
        own = [arms.get(row.tobytes()) for row in self.plays]
        # On a box a play lies between drawn points, and is found by its mean, which rounding may have moved.
        slack = 1e-9 * max(float(np.abs(self.truth).max()), 1.0)
        first, after = (np.searchsorted(np.sort(self.truth), self.means + s) for s in (-slack, slack))
        amid = ((first + after - 1) / 2).tolist()
        pairs = zip(own, amid, strict=True)
        return np.array([among if place is None else place for place, among in pairs], dtype=np.float64)

    @property
    def next_place(self) -> float | None:
        """Return the position of the next play on that line; on a box that of the nearest drawn point."""
        if self.following is None:
            return None
        if self.features.shape[1] == 1:
            return float(self.following[0])
        return float(self.order[np.square(self.features - self.following).sum(axis=1).argmin()])

    @property
    def best(self) -> int:
        """Return the index of the best feasible drawn point."""
        return int(np.where(self.feasible, self.truth, -np.inf).argmax())


def _truth(decisions: Decisions, trial: Trial, version: int, context: int) -> tuple[Floats, Floats]:
    if not decisions.continuous:
        here = slice(context * decisions.num_arms, (context + 1) * decisions.num_arms)
        return decisions.arms, trial.means[version][:, here]
    points, (low, high) = decisions.arms, decisions.box
    if len(low) in FINENESS:
        points = low + (high - low) * unit_grid(FINENESS[len(low)], len(low))
    located = decisions.with_context(context, points)
    return points, np.array([function(located) for function in trial.between[version]])


def _beliefs(agent: Any, observation: Floats, size: int, costs: int) -> tuple[tuple[Floats, Floats], ...]:
    """Return mean and std of the reward and of each cost at the drawn points; () if the agent has none."""
    if costs and hasattr(agent, "beliefs"):
        believed = agent.beliefs(observation) or []  # None if one model is of all
        believed = believed if len(believed) in (1, 1 + costs) else []  # an agent may ignore the costs
    else:
        believed = [agent.posterior(observation)] if hasattr(agent, "posterior") else []
    return tuple(believed) if all(len(mean) == size for mean, _ in believed) else ()


def _sides(shown: dict[str, Any]) -> dict[str, Any]:
    """Return what is shown of duels, (n,) each, of each arm, (2 n,): both are marked, the winner at 1."""
    won = shown["observed"]
    both = np.stack([won, 1.0 - won], axis=1).ravel()
    return {name: each.repeat(2) for name, each in shown.items()} | {"observed": both}


class Limits(NamedTuple):
    """Ranges of rewards, scores and regrets over several scenes, and which kinds of plays occur."""

    reward: Range
    scores: Range
    regret: Range
    shade: Range  # of mean rewards, true and posterior, drawn as colours
    std: float  # the largest posterior std
    scored: bool  # whether any scene has scores
    pending: bool
    lost: bool

    @classmethod
    def of(cls, scenes: Sequence[Scene]) -> "Limits":
        """Return ranges that hold every value of the scenes, but of wide bands what is near the rewards."""
        rewards, edges, scores, shades, stds = [], [], [], [], [0.0]
        for scene in scenes:
            rewards += [scene.truth, scene.observed]
            shades.append(scene.truth)
            if scene.belief is not None:
                mean, half = scene.belief[0], scene.band
                edges += [mean - half, mean + half]
                shades.append(mean)
                stds.append(float(scene.belief[1].max()))
            if scene.scores is not None:
                finite = scene.scores[np.isfinite(scene.scores)]
                if finite.size:
                    high = finite.max()
                    scores.append(finite[finite >= high - DEEPEST * (high - np.median(finite))])
        low, high = _range(rewards, margin=NEAR)
        return cls(
            _range([*rewards, *(np.clip(edge, low, high) for edge in edges)]),
            _range(scores),
            _range([np.zeros(1), *(scene.regrets for scene in scenes)]),
            _range(shades, margin=0.0),
            max(stds),
            bool(scores),
            any(scene.pending.any() for scene in scenes),
            any(scene.lost.any() for scene in scenes),
        )


def shared_limits(rows: Sequence[Sequence[Scene]]) -> list[Limits]:
    """Return limits for each of several agents, which share all but the unit of their scores."""
    common = Limits.of([scene for row in rows for scene in row])
    return [common._replace(scores=Limits.of(row).scores) for row in rows]


def _range(values: Sequence[Floats], margin: float = MARGIN) -> Range:
    joined = np.concatenate([np.zeros(0), *values])
    low, high = (float(joined.min()), float(joined.max())) if joined.size else (0.0, 1.0)
    added = margin * (high - low) if high > low else 0.5
    return low - added, high + added
