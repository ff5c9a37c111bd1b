"""Tables of real training runs, shipped or trained anew: support vector machines and a small network.

Support vector machines over C and gamma are those of Verma et al. (2022), Section 6.2: raw features, 70 %
training and 30 % validation (stratified, random_state 0), C = 1e-4 + x_1 (100 - 1e-4) and gamma = 1e-4 + x_2
(10 - 1e-4) with (x_1, x_2) in [0, 1]^2. On nearly all of that square the machine learns nothing; the
accuracy changes where x_2 is below about 0.004 and exceeds the plateau below about 0.001. The "uniform" grid
is the square as the authors search it, with the edge x_2 = 0 and a few rows beside it; on the "log" grid,
log-spaced towards both edges, one point in five is above the plateau, so that random play does well there.
`tools/svm_tables.py` computes the tables.

The network, over batch size, step size and decay, is that of their Appendix C.2: a convolution with 8
channels of 3 x 3, pooling by the maximum of 3 x 3, a layer of 8 units, rectified linear everywhere, Adam.
The paper's data are MNIST; these are the digits that scikit-learn ships (1797 images of 8 x 8, ten classes),
split likewise. What the paper leaves open is read as follows: 20 epochs, a linear layer from the 8 units to
the classes, PyTorch's own initial weights, and the step step_size / (1 + decay t) of update t = 0, 1, ...
Settings that share a batch size are trained in one batch: replicate i has the same initial weights and
shuffles for all of them, so that differences come from the hyperparameters and not from chance.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import from_extra
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.data import tables
from bandit_envs.data.files import cache_folder
from bandit_envs.data.tables import CNN_BOUNDS, Classification, TuningTable

if TYPE_CHECKING:
    from torch import Tensor

SVM_BOUNDS = {"C": (1e-4, 100.0), "gamma": (1e-4, 10.0)}
BESIDE_THE_EDGE = (0.001, 0.002, 0.003)  # more values of x_2, next to the edge where the accuracy changes
PREFIXES = 20  # growing data sets
ORDER_SEED = 0  # of the patients' order in which they grow


def growing_diabetes() -> list[Classification]:
    """Return 20 growing prefixes of the diabetes data in one random order: 38, 76, ..., 768 patients."""
    patients = tables.pima_diabetes().shuffled(ORDER_SEED)
    return [patients.prefix((i + 1) * len(patients.y) // PREFIXES) for i in range(PREFIXES)]


# The Z data sets of each name, one a row of its table.
DATA_SETS: dict[str, Callable[[], list[Classification]]] = {
    "diabetes": lambda: [tables.pima_diabetes()],
    "breast-cancer": lambda: [tables.breast_cancer()],
    "growing-diabetes": growing_diabetes,
}

# Shipped tables: numbers of values of C and gamma, by data and spacing.
SHAPES: dict[str, dict[str, tuple[int, int]]] = {
    "diabetes": {"uniform": (11, 251), "log": (30, 30)},
    "breast-cancer": {"uniform": (11, 251), "log": (30, 30)},
    "growing-diabetes": {"uniform": (6, 126), "log": (20, 20)},
}


class ResultGrid(NamedTuple):
    """Hold the spacing of points of the square, and how many values of C and gamma span their ranges."""

    spacing: str  # "uniform" or "log"
    shape: tuple[int, int]

    @property
    def points(self) -> Floats:
        """Return all pairs (x_1, x_2) of the axes' values, edges included, (A, 2)."""
        if self.spacing == "log":
            axes = [_log_axis(*bounds, n) for bounds, n in zip(SVM_BOUNDS.values(), self.shape, strict=True)]
        else:
            first, second = (np.linspace(0.0, 1.0, count) for count in self.shape)
            axes = [first, np.union1d(second, BESIDE_THE_EDGE)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)


def svm_accuracy(data: str, grid: ResultGrid) -> Floats:
    """Return the validation accuracy on each data set at each point of a grid, (Z, A).

    Args:
        data: a name in `DATA_SETS`.
        grid: of a shape in `SHAPES[data]`; other tables must have been computed.
    """
    name = svm_table_name(data, grid)
    found = files("bandit_envs.data").joinpath("tables", name)
    if not found.is_file():
        found = cache_folder() / "tables" / name
    if not found.is_file():
        first, second = grid.shape
        raise ValueError(
            f"shape must be that of a shipped or computed table, got {grid.shape}; compute it by"
            f" `python tools/svm_tables.py {data} {grid.spacing} {first} {second}`, or train at once with"
            " train=True"
        )
    return accuracy_of(np.loadtxt(found.read_text(encoding="utf-8").splitlines(), delimiter=",", ndmin=2))


@cache
def train_svm(data: str, grid: ResultGrid) -> Floats:
    """Return that accuracy by training, 0.01 s a machine; cached once a process. Do not write to it."""
    return accuracy_of(count_correct(DATA_SETS[data](), grid.points))


def count_correct(parts: list[Classification], points: Floats) -> Ints:
    """Return the number of validation patients, then of correct ones for each machine, (Z, 1 + A)."""
    from sklearn.model_selection import train_test_split
    from sklearn.svm import SVC

    counts = []
    for part in parts:
        split: list[Any] = train_test_split(part.x, part.y, test_size=0.3, stratify=part.y, random_state=0)
        x, x_valid, y, y_valid = split
        machines = (SVC(C=c, gamma=gamma) for c, gamma in svm_values(points))
        correct = (machine.fit(x, y).predict(x_valid) == y_valid for machine in machines)
        counts.append([len(y_valid), *(int(right.sum()) for right in correct)])
    return np.array(counts, dtype=np.int64)


def accuracy_of(counts: Any) -> Floats:
    """Return the share of correct validation patients, (Z, 1 + A) -> (Z, A)."""
    return counts[:, 1:] / counts[:, :1]


def svm_values(points: Floats) -> Floats:
    """Return C and gamma at points of the square, (A, 2)."""
    low, high = np.array(list(SVM_BOUNDS.values())).T
    return low + points * (high - low)


def svm_unit(points: Floats) -> Floats:
    """Return log C and log gamma at points of the square, scaled to [0, 1], (A, 2)."""
    return tables.to_unit(svm_values(points), np.array(list(SVM_BOUNDS.values())))


def svm_table_name(data: str, grid: ResultGrid) -> str:
    """Return the file name of a table."""
    first, second = grid.shape
    return f"svm_{data}_{grid.spacing}_{first}x{second}.csv"


def _log_axis(low: float, high: float, side: int) -> Floats:
    unit = (np.geomspace(low, high, side) - low) / (high - low)
    unit[[0, -1]] = 0.0, 1.0  # without rounding errors
    return unit


SHIPPED = (4, 13, 9)  # log-spaced values of batch size, step size and decay in the table that ships
REPLICATES = 8
EPOCHS = 20
SIDE, POOLS, CHANNELS, UNITS, CLASSES = 3, 4, 8, 8, 10  # SIDE: of the convolution and of a pool
FIRST, SECOND, GUARD = 0.9, 0.999, 1e-8  # Adam's, with PyTorch's defaults


class Digits(NamedTuple):
    """Hold images of digits and their labels."""

    x: Floats  # (n, 8, 8) in [0, 1]
    y: Ints  # (n,) 0 to 9
    x_valid: Floats  # (m, 8, 8)
    y_valid: Ints  # (m,)


def digits() -> Digits:
    """Load the digits of scikit-learn in their training and validation parts."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    images, labels = load_digits(return_X_y=True)
    split: list[Any] = train_test_split(images, labels, test_size=0.3, stratify=labels, random_state=0)
    x, x_valid, y, y_valid = split
    return Digits(x.reshape(-1, 8, 8) / 16, y, x_valid.reshape(-1, 8, 8) / 16, y_valid)


@cache
def train_cnn(shape: tuple[int, int, int] = SHIPPED, replicates: int = REPLICATES) -> TuningTable:
    """Train on a log-spaced grid, a tenth of a second a run, once a process. Do not write to the result."""
    data = digits()
    axes = zip(CNN_BOUNDS.values(), shape, strict=True)
    batch_sizes, *others = (np.geomspace(*bounds, n) for bounds, n in axes)
    step_size, decay = (axis.ravel() for axis in np.meshgrid(*others, indexing="ij"))
    rows = [cnn_rows(data, round(b), step_size, decay, replicates) for b in batch_sizes]
    return tables.tuning_table(np.concatenate(rows), CNN_BOUNDS)


def cnn_rows(data: Digits, batch_size: int, step_size: Floats, decay: Floats, replicates: int) -> Floats:
    """Return setting, mean accuracy and std of one run, at P settings of step size and decay, (P, 5)."""
    runs = [cnn_accuracy(data, batch_size, step_size, decay, i) for i in range(replicates)]
    std = np.std(runs, axis=0, ddof=1) if replicates > 1 else np.zeros(len(step_size))
    return np.column_stack([np.full(len(decay), batch_size), step_size, decay, np.mean(runs, axis=0), std])


def cnn_accuracy(data: Digits, batch_size: int, step_size: Floats, decay: Floats, replicate: int) -> Floats:
    """Return the validation accuracy of one run at each of P settings of step size and decay, (P,)."""
    with from_extra("rl", "training runs of the convolutional network"):
        import torch

    weights = trained(data, batch_size, step_size, decay, replicate)
    with torch.no_grad():
        right = scores(weights, patches(data.x_valid)).argmax(dim=2) == torch.as_tensor(data.y_valid)
    return right.double().mean(dim=1).numpy()


def trained(data: Digits, batch_size: int, step_size: Floats, decay: Floats, replicate: int) -> list[Tensor]:
    """Return weights and biases of the P networks after the last epoch."""
    import torch

    of_shuffle = np.random.default_rng([1, replicate, batch_size])
    weights = start(np.random.default_rng([0, replicate]), len(step_size))
    moments = [(torch.zeros_like(w), torch.zeros_like(w)) for w in weights]
    x, y = patches(data.x), torch.as_tensor(data.y)
    update = 0
    for _ in range(EPOCHS):
        for batch in torch.as_tensor(of_shuffle.permutation(len(y))).split(batch_size):
            step = torch.as_tensor(step_size / (1 + decay * update)).float()
            update += 1
            adam(weights, moments, gradient(weights, x[:, batch], y[batch]), step, update)
    return weights


def patches(x: Floats) -> Tensor:
    """Return pixels under the convolution at the 9 places of each of 4 pools, (n, 8, 8) -> (9, n, 4, 9)."""
    import torch

    windows = torch.as_tensor(x).float().unfold(1, SIDE, 1).unfold(2, SIDE, 1)  # (n, 6, 6, 3, 3)
    pools = windows.reshape(len(x), 2, SIDE, 2, SIDE, SIDE**2).permute(2, 4, 0, 1, 3, 5)
    return pools.reshape(SIDE**2, len(x), POOLS, SIDE**2)


def start(rng: np.random.Generator, count: int) -> list[Tensor]:
    """Draw weights and biases of P equal networks, uniform in +-1/sqrt(fan in)."""
    import torch

    layers = [(SIDE**2, CHANNELS), (CHANNELS * POOLS, UNITS), (UNITS, CLASSES)]  # fan in, fan out
    shapes = [(fan_in, (rows, fan_out)) for fan_in, fan_out in layers for rows in (fan_in, 1)]
    drawn = (rng.uniform(-(fan_in**-0.5), fan_in**-0.5, size=shape) for fan_in, shape in shapes)
    return [torch.as_tensor(np.repeat(w[None], count, axis=0)).float().requires_grad_() for w in drawn]


def scores(weights: list[Tensor], x: Tensor) -> Tensor:
    """Return the classes' scores of each network for each image, x (9, n, 4, 9) -> (P, n, 10)."""
    filters, shift, hidden, hidden_shift, out, out_shift = weights
    convolved = x @ filters.transpose(0, 1).reshape(SIDE**2, -1)  # (9, n, 4, P 8), of all networks at once
    # A shift and a rectifier are monotone: applied after the maximum they cost a ninth.
    pooled = (convolved.max(dim=0).values + shift.flatten()).relu()
    inner = pooled.reshape(x.shape[1], POOLS, len(filters), CHANNELS).permute(2, 0, 3, 1).flatten(2)
    return (inner @ hidden + hidden_shift).relu() @ out + out_shift


def gradient(weights: list[Tensor], x: Tensor, y: Tensor) -> list[Tensor]:
    """Return the gradient of each network's mean cross-entropy."""
    import torch
    from torch.nn.functional import cross_entropy

    each = scores(weights, x)
    loss = cross_entropy(each.flatten(0, 1), y.repeat(len(each)), reduction="sum") / len(y)
    return list(torch.autograd.grad(loss, weights))


def adam(
    weights: list[Tensor],
    moments: list[tuple[Tensor, Tensor]],
    gradients: list[Tensor],
    step: Tensor,
    update: int,
) -> None:
    """Make update number 1, 2, ... of each network by its own step, in place (Kingma & Ba 2015)."""
    import torch

    with torch.no_grad():
        for w, (first, second), g in zip(weights, moments, gradients, strict=True):
            first.lerp_(g, 1 - FIRST)
            second.lerp_(g * g, 1 - SECOND)
            mean, square = first / (1 - FIRST**update), second / (1 - SECOND**update)
            w -= step[:, None, None] * mean / (square.sqrt() + GUARD)
