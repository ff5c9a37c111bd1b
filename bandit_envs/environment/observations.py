"""Summarise episodes so far as vectors, for learners that see nothing but their observation.

The same classes serve wrappers of environments (`HistoryObservation`, `StatisticsObservation`), vector
environments, and agents, which have no environment: `begin`, then in every round `vector(observation)` and
`note(action, info)`. One episode is a batch of one, whose observations, actions and info need no such axis.
Learners whose observations say nothing of a function that is new in every episode are warned.
"""

import inspect
import sys
import warnings
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.spaces import Space

from bandit_envs.basics.arguments import is_count, require
from bandit_envs.basics.types import Floats
from bandit_envs.problem.feedback import Feedback
from bandit_envs.problem.problem import Problem
from bandit_envs.problem.setting import Setting

CELLS = 4096  # more would make a rollout take megabytes


class Summary:
    """Summarise B episodes as vectors of fixed length: the observation, then `details`, here none."""

    unit = 1.0  # divides rewards; agents set a better one

    def __init__(self, setting: Setting, size: int = 1):
        self.setting, self.rows = setting, np.arange(size)
        self.round = np.zeros(size, dtype=np.int64)
        self._unit_arms = None if setting.continuous else 2.0 * setting.decisions.unit_arms - 1.0
        self.width = setting.dim * (2 if setting.duel else 1)  # features of a play, of both arms of a duel

    def begin(self, rows: Any = slice(None)) -> None:
        """Start new episodes in these rows, by default in all."""
        self.round[rows] = 0

    def note(self, action: Any, info: dict[str, Any]) -> None:
        """Record the play of every episode, and the feedback that `info` delivers."""
        actions = np.reshape(action, (len(self.rows), -1))
        place = actions.astype(np.float64) if self._unit_arms is None else self._unit_arms[actions]
        self._take(place.reshape(-1, self.width), Feedback.arrived(info))
        self.round += 1

    def vector(self, observation: Any) -> Floats:
        """Return observations (dz,) or (B, dz) with their details, (dz + n,) or (B, dz + n), as float32."""
        rows = np.reshape(observation, (len(self.rows), -1))
        shown = np.concatenate([rows, self.details(rows)], axis=1).astype(np.float32)
        return shown.reshape(*np.shape(observation)[:-1], -1)  # type: ignore[return-value]

    @property
    def space(self) -> spaces.Box:
        """Return the space of one episode's `vector`."""
        seen = self.setting.scaled_contexts.shape[1]
        low, high = self.bounds()
        ends = np.r_[np.zeros(seen), low], np.r_[np.ones(seen), high]
        return spaces.Box(*(each.astype(np.float32) for each in ends))

    @property
    def share(self) -> Floats:
        """Return the share of rounds played, (B, 1)."""
        return self.round[:, None] / self.setting.horizon

    def _take(self, place: Floats, feedback: Feedback) -> None:
        """Record plays with features in [-1, 1], (B, d), and delivered feedback."""

    def details(self, observations: Floats) -> Floats:
        """Return the entries that are added to the observations, (B, dz) -> (B, n)."""
        return np.empty((len(observations), 0))

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the least and largest values of `details`, (n,) each."""
        return np.empty(0), np.empty(0)


class History(Summary):
    """Show the last play, the last reward, the play that earned it, whether it is new, and t / T.

    In this order: d features of the last play in [-1, 1]; d of the one whose reward was delivered last, the
    same without delay; that reward; 1 if it was delivered in the last round, else 0; the share of rounds
    played. A duel has the features of both arms, and its reward is 1 if the first won. Of several delivered
    in one round, the latest play counts. With a recurrent policy this is the input of RL^2 (Duan et al. 2016,
    section 2.2).
    """

    def __init__(self, setting: Setting, size: int = 1):
        super().__init__(setting, size)
        self._plays = np.zeros((size, setting.horizon, self.width))
        self._credited, self._last = np.zeros((2, size, self.width))
        self._reward, self._news = np.zeros((2, size, 1))

    def begin(self, rows: Any = slice(None)) -> None:
        super().begin(rows)
        for kept in (self._credited, self._last, self._reward, self._news):
            kept[rows] = 0.0

    def _take(self, place: Floats, feedback: Feedback) -> None:
        self._last = self._plays[self.rows, self.round] = place
        order = feedback.round.argsort()  # the latest play of a trial is assigned last
        trial, rounds = feedback.trial[order], feedback.round[order]
        self._news[:] = 0.0
        self._news[trial] = 1.0
        self._reward[trial, 0] = feedback.reward[order]
        self._credited[trial] = self._plays[trial, rounds]

    def details(self, observations: Floats) -> Floats:
        """Return last play, credited play, reward, news flag and share of rounds, (B, 2 d + 3)."""
        reward = self._reward / self.unit
        return np.concatenate([self._last, self._credited, reward, self._news, self.share], axis=1)

    def bounds(self) -> tuple[Floats, Floats]:
        ones = np.ones(2 * self.width)
        return np.r_[-ones, -np.inf, 0.0, 0.0], np.r_[ones, np.inf, 1.0, 1.0]


class Statistics(Summary):
    """Show count and mean reward of each cell of a grid in the current context, and t / T.

    In this order: log(1 + n) / log(1 + T) of each of the `bins`^d cells, at most 4096, with n delivered
    rewards of plays in it; their mean, 0 where there are none; the share of rounds played.
    """

    def __init__(self, setting: Setting, size: int = 1, bins: int = 10):
        require(is_count(bins), "bins", "a positive integer", bins)
        remedy = '"history" or "none" in duels: an outcome is of a pair, and cells are of single plays'
        require(not setting.duel, "observation", remedy, "statistics")
        cells = int(bins) ** setting.dim
        require(cells <= CELLS, "bins", f"small enough for {CELLS} cells in {setting.dim} dimensions", bins)
        super().__init__(setting, size)
        self.bins = int(bins)
        shape = size, len(setting.scaled_contexts), cells
        self._count, self._sum = np.zeros(shape, dtype=np.int64), np.zeros(shape)
        self._cells = np.zeros((2, size, setting.horizon), dtype=np.int64)  # context and cell of each play
        self._context = np.zeros(size, dtype=np.int64)
        self._logs = np.log1p(np.arange(setting.horizon + 1.0)) / np.log1p(setting.horizon)

    def begin(self, rows: Any = slice(None)) -> None:
        super().begin(rows)
        self._count[rows], self._sum[rows] = 0, 0.0

    def _take(self, place: Floats, feedback: Feedback) -> None:
        index = np.clip(((place + 1.0) / 2.0 * self.bins).astype(int), 0, self.bins - 1)
        played = np.ravel_multi_index(tuple(index.T), (self.bins,) * self.setting.dim)
        self._cells[:, self.rows, self.round] = self._context, played
        context, cell = self._cells[:, feedback.trial, feedback.round]
        np.add.at(self._count, (feedback.trial, context, cell), 1)
        np.add.at(self._sum, (feedback.trial, context, cell), feedback.reward)

    def details(self, observations: Floats) -> Floats:
        """Return counts, means and the share of rounds in the observed contexts, (B, 2 bins^d + 1)."""
        self._context = self.setting.context_index(observations)
        count, total = self._count[self.rows, self._context], self._sum[self.rows, self._context]
        mean = total / np.maximum(count, 1) / self.unit
        return np.concatenate([self._logs[count], mean, self.share], axis=1)

    def bounds(self) -> tuple[Floats, Floats]:
        ones = np.ones(self._count.shape[2])
        return np.r_[0.0 * ones, -np.inf * ones, 0.0], np.r_[ones, np.inf * ones, 1.0]


SUMMARIES: dict[str, type[Summary]] = {"none": Summary, "history": History, "statistics": Statistics}


def make_summary(observation: Any, setting: Setting, size: int = 1) -> Summary:
    """Return the summary described by a name, or by {"kind": "statistics", "bins": 20}, of B episodes."""
    spec = {"kind": observation} if isinstance(observation, str) else observation
    named = isinstance(spec, dict) and spec.get("kind") in SUMMARIES
    require(named, "observation", f"one of {', '.join(SUMMARIES)}, or a dict with that as kind", observation)
    options = {key: value for key, value in spec.items() if key != "kind"}
    allowed = {"bins"} if spec["kind"] == "statistics" else set()
    unknown = sorted(options.keys() - allowed)
    require(not unknown, "observation", f"without {', '.join(unknown)} for {spec['kind']!r}", observation)
    attributable = spec["kind"] == "none" or not setting.aggregated
    remedy = "none where feedback is aggregated: it belongs to no single play"
    require(attributable, "observation", remedy, observation)
    return SUMMARIES[spec["kind"]](setting, size, **options)


LEARNERS = ("stable_baselines3", "sb3_contrib")
LIBRARIES = ("bandit_envs", "agents", "gymnasium", *LEARNERS)  # callers that are not the user
EPISODES = 3  # begun by a learner: with fewer it learns within one, as `evaluate` lets it
REMEDY = (
    "the observation is constant and every episode draws a new function, so that this policy cannot learn "
    "which arm is good: show it the past, with StatisticsObservation (or HistoryObservation for a recurrent "
    'policy; observation="statistics" or "history" in an SB3VectorEnv and train_policy), or freeze the '
    "function, with function_seed=0"
)


def is_blind(problem: Problem, seen: Space) -> bool:
    """Return True if observations of a learner say nothing about a function that is new in every episode."""
    shown = problem.published.scaled_contexts.shape[1:]
    if seen.shape != shown or problem.decisions.num_contexts > 1 or problem.function_seed is not None:
        return False
    first, second = (problem.draw(entropy) for entropy in range(2))
    return not np.array_equal(first.means[0], second.means[0])


def warn_if_blind(problem: Problem, seen: Space) -> None:
    """Warn, at the user's line, if observations have no information; see `is_blind`."""
    if is_blind(problem, seen):
        warnings.warn(REMEDY, UserWarning, stacklevel=_frames_of_libraries() + 1)


class Watched:
    """The episodes that a model of stable-baselines3 begins in an environment are counted, to warn once."""

    def __init__(self) -> None:
        self._begun = 0

    def begin(self, problem: Problem) -> None:
        """Count an episode if a model begins it in `learn`, and warn at the third one if it is blind."""
        if self._begun >= EPISODES or "stable_baselines3" not in sys.modules:
            return
        if (model := _learner()) is not None:
            self._begun += 1
            if self._begun == EPISODES:
                warn_if_blind(problem, model.observation_space)


def _learner() -> Any:
    """Return the model whose `learn` has called, None without one."""
    frame = inspect.currentframe()
    while frame is not None:
        ours = frame.f_globals.get("__name__", "").partition(".")[0] in LEARNERS
        if ours and frame.f_code.co_name in ("_setup_learn", "collect_rollouts"):
            return frame.f_locals.get("self")
        frame = frame.f_back
    return None


def _frames_of_libraries() -> int:
    """Return the number of calls between the user's line and this function's caller, including that."""
    count, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in LIBRARIES:
        count, frame = count + 1, frame.f_back
    return count - 1
