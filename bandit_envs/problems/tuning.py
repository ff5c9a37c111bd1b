"""Hyperparameters of real learners, tuned by tables of training runs (Verma et al. 2022, Section 6)."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from bandit_envs.basics.arguments import is_count, require, require_choice, require_size, require_switch
from bandit_envs.basics.types import Floats
from bandit_envs.kernels.kernels import LengthScale, make_kernel
from bandit_envs.laws.functions import Moments
from bandit_envs.laws.tabulated import RecordedValues
from bandit_envs.problem.decisions import Decisions
from bandit_envs.problem.problem import Problem
from bandit_envs.problems.features import compose, with_defaults
from bandit_envs.problems.parts import joint_kernel

if TYPE_CHECKING:
    from bandit_envs.data import TuningTable
    from bandit_envs.data.training import ResultGrid

NOISE_STD = 0.01  # our reading: the paper's accuracies have no noise, its model does
MOST_ARMS = 10_000
FEATURES = 6  # of a task, the first of its 22
TRAINED, CNN_TRAINED = 0.9, 0.8  # accuracy above which a setting counts as trained


def from_table(table: Floats, decisions: Decisions, kernel: Kernel, **features: Any) -> Problem:
    """Return a problem of known accuracies, (Z, A); the published prior has their mean and variance."""
    moments = Moments(float(table.mean()), float(table.std()))
    law = RecordedValues(table.reshape(1, -1), least=0.0, moments=moments)
    return compose(decisions, law, kernel, **features)


def svm_tuning(
    *,
    data: str = "diabetes",
    grid: str = "uniform",
    shape: Sequence[int] | None = None,
    train: bool = False,
    scale: str = "linear",
    kernel: Any = "matern52",
    length_scale: LengthScale = 0.2,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Tune an SVM over C and gamma for validation accuracy, ten rounds late (Verma et al. 2022, Fig. 2).

    Real training runs at points of (x_1, x_2) in [0, 1]^2, C = 1e-4 + x_1 (100 - 1e-4) and gamma = 1e-4 +
    x_2 (10 - 1e-4), spaced evenly as the authors search it, 0.1 and 0.004 apart, and three more values of x_2
    below 0.004: all of the square but its edge x_2 = 0 is a plateau on which the machine learns nothing, or
    worse. Action: `Discrete(A)`, a configuration; A = 2794. Observation: a constant 0. Reward: the sum of
    delivered rewards, accuracy + noise of std 0.01 (our reading; `noise_std=0` is the table itself); Poisson
    delays of mean 10; 100 rounds. Info: see docs/environments.md. Regret: best accuracy - that of the
    configuration, charged at play time.

    Args:
        data: "diabetes" (768 patients, as in the paper) or "breast-cancer" (569, bundled with scikit-learn).
        grid: "uniform", or "log": log-spaced towards both edges, where a fifth of the configurations learn
            and random play is hard to beat.
        shape: values of C and of gamma; (11, 251) of the uniform grid and (30, 30) of the other ship, others
            need `train`, or a table by `tools/svm_tables.py`; at most 10,000 configurations.
        train: train now instead, a hundredth of a second a configuration, once a process; diabetes is
            downloaded for that.
        scale: features of an arm: "linear" is (x_1, x_2), as the paper's model sees them; "log" is log C
            and log gamma in [0, 1], which spreads the edge out.
        kernel, length_scale: the model's, on these features.
        continuous: must be False; the table has no values between its points.
        **features: see `bandit_envs.problems.features.compose`.

    Example:
        >>> env = gym.make("GPBandit-SVMTuning-v0", data="breast-cancer", delay={"law": "constant"})
    """
    require_choice("data", data, ("diabetes", "breast-cancer"))
    table, arms = _table(data, grid, shape, train, scale)
    return from_table(
        table,
        Decisions(arms, low=np.zeros(2), high=np.ones(2), continuous=continuous),
        make_kernel(kernel, length_scale),
        **_with_delays(features, name="svm-tuning", mean=10, horizon=100),
    )


def growing_data_svm(
    *,
    grid: str = "uniform",
    shape: Sequence[int] | None = None,
    train: bool = False,
    scale: str = "linear",
    kernel: Any = "matern52",
    length_scale: LengthScale = 0.2,
    context_kernel: Mapping[str, Any] | None = None,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Tune an SVM on 20 growing data sets, three rounds late (Verma et al. 2022, Figure 4c, d).

    The diabetes data in one random order; data set i is the first (i + 1) / 20 of the patients, split as
    for `GPBandit-SVMTuning-v0`, and its context is i / 19. Action: `Discrete(A)`, a configuration of C and
    gamma, evenly spaced, 0.2 and 0.008 apart, with the same three more; A = 774. Observation: the context.
    Reward: the sum of delivered rewards, accuracy + noise of std 0.01 (our reading); each data set for 30
    rounds, one after the other; Poisson delays of mean 3; 600 rounds. Info: see docs/environments.md.
    Regret: best accuracy on the round's data set - that of the configuration, charged at play time.

    Args:
        grid, shape: as for `svm_tuning`; (6, 126) of the uniform grid and (20, 20) of the other ship.
        train: train now instead, 20 machines a configuration (some minutes), once a process.
        scale, kernel, length_scale: of the arms, as for `svm_tuning`.
        context_kernel: as for `synthetic`.
        continuous, **features: as for `svm_tuning`.

    Example:
        >>> env = gym.make("GPBandit-GrowingDataSVM-v0", context_kernel={"length_scale": 0.3})
    """
    table, arms = _table("growing-diabetes", grid, shape, train, scale)
    contexts = np.linspace(0.0, 1.0, len(table))[:, None]
    return from_table(
        table,
        Decisions(arms, contexts, low=np.zeros(2), high=np.ones(2), continuous=continuous),
        joint_kernel(make_kernel(kernel, length_scale), context_kernel, 1, 2),
        **_with_delays(features, name="growing-data-svm", mean=3, horizon=600, context="blocks"),
    )


def _table(
    data: str, spacing: str, shape: Sequence[int] | None, train: bool, scale: str
) -> tuple[Floats, Floats]:
    """Return accuracies (Z, A) and the features of the configurations (A, 2)."""
    from bandit_envs.data.training import svm_accuracy, svm_unit, train_svm

    require_switch("train", train)
    require_choice("scale", scale, ("linear", "log"))
    grid = _grid(data, spacing, shape)
    table = train_svm(data, grid) if train else svm_accuracy(data, grid)
    return table, grid.points if scale == "linear" else svm_unit(grid.points)


def _grid(data: str, spacing: str, shape: Sequence[int] | None) -> "ResultGrid":
    from bandit_envs.data.training import SHAPES, ResultGrid

    require_choice("grid", spacing, SHAPES[data])
    if shape is None:
        return ResultGrid(spacing, SHAPES[data][spacing])
    valid = isinstance(shape, list | tuple) and len(shape) == 2 and all(is_count(n) and n > 1 for n in shape)
    expected = f"two integers from 2 on with a product of at most {MOST_ARMS}"
    require(valid and shape[0] * shape[1] <= MOST_ARMS, "shape", expected, shape)
    return ResultGrid(spacing, (int(shape[0]), int(shape[1])))


def _with_delays(features: dict[str, Any], *, mean: float, **defaults: Any) -> dict[str, Any]:
    delay = {"law": "poisson", "mean": mean}
    return with_defaults(features, delay=delay, noise_std=NOISE_STD, **defaults)


def multi_task_svm(
    *,
    kernel: Any = "matern52",
    length_scale: LengthScale = 0.5,
    context_kernel: Mapping[str, Any] | None = None,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Tune SVMs on 50 tasks x 288 configurations, three rounds late (Verma et al. 2022, Figure 4a and b).

    The tables of Wistuba et al. (2016). Action: `Discrete(288)`, a configuration of kernel, C, gamma and
    degree. Observation: the six first meta-features of the round's task, and its number / 49: two pairs of
    tasks have the same features but different accuracies, and the seventh entry distinguishes them. The
    model ignores it: its kernel is on the six features and the configuration, as in the paper. Reward: the
    sum of delivered rewards, accuracy + noise of std 0.01 (our reading; the tables have none); each task for
    30 rounds, in byte order of their names; Poisson delays of mean 3; 1500 rounds. Info:
    see docs/environments.md. Regret: best accuracy on the round's task - that of the configuration, charged
    at play time.

    Args:
        kernel, length_scale: the model's over configurations; the paper states none.
        context_kernel: as for `synthetic`, over the six features.
        continuous: must be False; the tables have no values between their points.
        **features: see `bandit_envs.problems.features.compose`.

    Example:
        >>> env = gym.make("GPBandit-MultiTaskSVM-v0", horizon=300)  # needs the measurements
    """
    from bandit_envs.data import tst_svm

    tasks = tst_svm()
    number = np.linspace(0.0, 1.0, len(tasks.names))
    contexts = np.column_stack([tasks.features[:, :FEATURES], number])
    width, dim = contexts.shape[1], tasks.configurations.shape[1]
    over_arms = make_kernel(kernel, length_scale)
    return from_table(
        tasks.accuracy,
        Decisions(tasks.configurations, contexts, continuous=continuous),
        joint_kernel(over_arms, context_kernel, width, dim, seen=FEATURES),
        **_with_delays(features, name="multi-task-svm", mean=3, horizon=1500, context="blocks"),
    )


def logistic_tuning(
    *, kernel: Any = "matern52", length_scale: LengthScale = 0.3, continuous: bool = False, **features: Any
) -> Problem:
    """Tune logistic regression over batch size, step size and decay (Verma et al. 2022).

    Real training runs on scikit-learn's breast-cancer data, on a grid of batch size [32, 128], step size
    and decay [1e-6, 1], all on log scales in [0, 1]. Action: `Discrete(N)`, a setting. Observation: a
    constant 0. Reward: mean validation accuracy over the training seeds + noise of the std between seeds,
    pooled over the settings that reach 0.9 (those that barely train scatter more, around 0.5).
    Info: see docs/environments.md. Regret: best mean accuracy - that of the setting.

    Args:
        kernel, length_scale: the model's, on the log scales.
        continuous, **features: as for `svm_tuning`.

    Example:
        >>> env = gym.make("GPBandit-LogisticTuning-v0", horizon=50)
    """
    from bandit_envs.data import logistic_tuning as load

    defaults = {"name": "logistic-tuning", "horizon": 100}
    return _tuning(load(), TRAINED, make_kernel(kernel, length_scale), continuous, features, defaults)


def cnn_tuning(
    *,
    shape: Sequence[int] = (4, 13, 9),
    replicates: int = 8,
    train: bool = False,
    kernel: Any = "matern52",
    length_scale: LengthScale = 0.3,
    continuous: bool = False,
    **features: Any,
) -> Problem:
    """Tune a small convolutional network, with results ten rounds late (Verma et al. 2022, Fig. 2e-h).

    Real training runs on the digits that scikit-learn ships (the paper's data are MNIST), see
    `bandit_envs.data.training`, on a grid of batch size [128, 512], step size and decay [1e-6, 1], all on
    log scales in [0, 1] (our reading). Action: `Discrete(N)`, a setting; N = 468. Observation: a constant 0.
    Reward: the sum of delivered rewards, mean accuracy over the training seeds + noise of the std between
    seeds, pooled over the settings that reach 0.8; settings that learn nothing are tied at chance, 0.1.
    Poisson delays of mean 10; 100 rounds. Info: see docs/environments.md. Regret: best mean accuracy -
    that of the setting, charged at play time.

    Args:
        shape: values of batch size, step size and decay; others than (4, 13, 9) need `train`.
        replicates: training seeds of each setting; others than 8 need `train`.
        train: train now instead, a tenth of a second a run, once a process; needs torch, of the extra `rl`.
        kernel, length_scale: the model's, on the log scales.
        continuous, **features: as for `svm_tuning`.

    Example:
        >>> env = gym.make("GPBandit-CNNTuning-v0", delay={"law": "constant", "rounds": 10})
    """
    from bandit_envs.data.tables import cnn_tuning as load
    from bandit_envs.data.training import REPLICATES, SHIPPED, train_cnn

    valid = isinstance(shape, list | tuple) and len(shape) == 3 and all(is_count(n) and n > 1 for n in shape)
    expected = f"three integers from 2 on with a product of at most {MOST_ARMS}"
    require(valid and prod(shape) <= MOST_ARMS, "shape", expected, shape)
    require_size("replicates", replicates, prod(shape))
    require_switch("train", train)
    shipped = (*shape, replicates) == (*SHIPPED, REPLICATES)
    require(train or shipped, "train", f"True unless shape is {SHIPPED} and replicates {REPLICATES}", train)
    table = train_cnn(tuple(shape), replicates) if train else load()
    defaults = {"name": "cnn-tuning", "horizon": 100, "delay": {"law": "poisson", "mean": 10}}
    return _tuning(table, CNN_TRAINED, make_kernel(kernel, length_scale), continuous, features, defaults)


def _tuning(
    table: "TuningTable",
    trained: float,
    kernel: Any,
    continuous: bool,
    features: dict[str, Any],
    defaults: dict[str, Any],
) -> Problem:
    dim = len(table.names)
    learnt = table.std[table.accuracy > trained]
    noise_std = float(np.sqrt((learnt**2).mean())) if len(learnt) else 0.0
    return from_table(
        table.accuracy[None],
        Decisions(table.unit, low=np.zeros(dim), high=np.ones(dim), continuous=continuous),
        kernel,
        **with_defaults(features, noise_std=noise_std, **defaults),
    )
