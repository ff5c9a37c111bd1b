"""Data files are found, downloaded and checked; the shipped table is what training gives."""

import gc
import hashlib
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pooch
import pytest
from pages import loaded

from bandit_envs import data
from bandit_envs.data import files
from bandit_envs.data.files import Source
from bandit_envs.data.tables import CNN_BOUNDS, LOGISTIC_BOUNDS, to_unit
from bandit_envs.data.training import SHIPPED

CONTENT = b"1,2,3\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
INTEL = ("intel_temperature_train.csv", "intel_temperature_test.csv")
CMU = ("cmu_light_iw_data_all.mat",)


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A local web site with one file, `x.csv`."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "x.csv").write_bytes(CONTENT)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(site))) as http:
        thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """An empty $GPBANDITS_DATA and an empty cache."""
    given, cache = tmp_path / "given", tmp_path / "cache"
    given.mkdir()
    monkeypatch.setenv(files.VARIABLE, str(given))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return given, cache / "gpbandits"


@pytest.fixture(autouse=True)
def _pooch_writes_no_closed_file(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    # pooch's own handler keeps the stderr of its import, which pytest closes after that test.
    monkeypatch.setattr(pooch.get_logger(), "handlers", [caplog.handler])


def know(monkeypatch: pytest.MonkeyPatch, file: str, url: str, sha256: str = SHA256) -> None:
    monkeypatch.setattr(files, "sources", lambda: {file: Source(url, sha256)})


@pytest.fixture
def script():
    return loaded("tools/logistic_tuning_table.py")


def test_a_file_is_downloaded_once_saying_from_where_and_then_found(server, places, monkeypatch, caplog):
    know(monkeypatch, "folder/x.csv", f"{server}/x.csv")
    assert data.find("folder/x.csv") is None
    path = data.locate("folder/x.csv")
    assert f"{server}/x.csv" in caplog.text
    assert path == places[1] / "folder" / "x.csv"
    assert path.read_bytes() == CONTENT
    know(monkeypatch, "folder/x.csv", "http://127.0.0.1:1/nowhere")
    assert data.locate("folder/x.csv") == data.find("folder/x.csv") == path


def test_the_folder_of_the_user_comes_first(server, places, monkeypatch):
    know(monkeypatch, "x.csv", f"{server}/x.csv")
    data.locate("x.csv")
    (places[0] / "x.csv").write_bytes(CONTENT)
    assert data.locate("x.csv") == places[0] / "x.csv"


def test_a_download_with_the_wrong_checksum_is_an_error_and_not_kept(server, places, monkeypatch):
    know(monkeypatch, "x.csv", f"{server}/x.csv", "0" * 64)
    with pytest.raises(ValueError, match=r"hash .* does not match"):
        data.locate("x.csv")
    assert not any(path.is_file() for path in places[1].rglob("*"))


def test_a_damaged_file_in_the_cache_is_downloaded_again(server, places, monkeypatch):
    know(monkeypatch, "x.csv", f"{server}/x.csv")
    data.locate("x.csv").write_bytes(b"damaged")
    assert data.find("x.csv") is None
    assert data.locate("x.csv").read_bytes() == CONTENT


def test_a_damaged_file_of_the_user_is_an_error_that_names_it(places, monkeypatch):
    know(monkeypatch, "x.csv", "http://127.0.0.1:1/x.csv")
    (places[0] / "x.csv").write_bytes(b"damaged")
    with pytest.raises(ValueError, match=rf"{places[0] / 'x.csv'} is not the expected file.*{SHA256}"):
        data.locate("x.csv")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # pooch leaves the socket of a 404 open
@pytest.mark.parametrize("address", ["{server}/absent.csv", "http://127.0.0.1:1/x.csv"])
def test_a_failed_download_names_the_file_its_address_and_the_variable(server, places, monkeypatch, address):
    url = address.format(server=server)
    know(monkeypatch, "x.csv", url)
    with pytest.raises(
        FileNotFoundError, match=r"cannot find x\.csv.*GPBANDITS_DATA.*download failed"
    ) as raised:
        data.locate("x.csv")
    assert url in str(raised.value)
    del raised
    gc.collect()


def test_without_pooch_the_error_names_the_extra(places, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.delenv(files.VARIABLE)
    with pytest.raises(
        FileNotFoundError, match=r"cannot find pima.*https://.*GPBANDITS_DATA.*gpbandits\[data\]"
    ):
        data.locate("pima_diabetes.csv")


def test_an_unknown_file_is_an_error_that_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown data file 'y\.csv'.*pima_diabetes\.csv"):
        data.locate("y.csv")


def test_every_file_has_an_address_and_a_checksum():
    known = files.sources()
    assert len(known) == 4 + 50
    for file, source in known.items():
        assert source.url.startswith("https://raw.githubusercontent.com/"), file
        assert len(bytes.fromhex(source.sha256)) == 32, file


def test_the_files_on_this_machine_have_the_known_checksums():
    found = [data.find(file) for file in files.sources()]  # an error where a checksum differs
    if not any(found):
        pytest.skip(f"no public data file on this machine; set {files.VARIABLE} to the folder that has them")


@pytest.mark.needs_data(*INTEL, *CMU)
def test_sensors_are_in_the_units_and_the_order_of_their_files():
    """Degrees Celsius of a warm room, positive light; neighbouring times are more alike than distant ones."""
    warm, light = data.intel_temperature(), data.cmu_light()
    assert (warm.train.shape, warm.test.shape) == ((144, 50), (96, 50))
    assert (light.train.shape, light.test.shape) == ((601, 41), (192, 41))
    assert warm.train[1, 0] == 18.2  # sensor 0 half an hour after the start
    assert 10 < min(warm.train.min(), warm.test.min()) < max(warm.train.max(), warm.test.max()) < 40
    assert min(light.train.min(), light.test.min()) > 0
    for part in (warm.train, light.train):  # a transposed file would compare sensors, which are not in order
        late, half = part - part.mean(axis=0), len(part) // 4
        assert np.abs(np.diff(late, axis=0)).mean() < 0.5 * np.abs(late[half:] - late[:-half]).mean()


@pytest.mark.parametrize(
    ("table", "bounds", "sides", "levels"),
    [
        (data.logistic_tuning, LOGISTIC_BOUNDS, (5, 13, 13), (0.4, 0.6, 0.95)),
        (data.cnn_tuning, CNN_BOUNDS, SHIPPED, (0.05, 0.1, 0.7)),  # a guess is right in one case of ten
    ],
)
def test_a_tuning_table_is_a_complete_grid_on_the_unit_cube(table, bounds, sides, levels):
    names, values, unit, accuracy, std = table()
    assert names == tuple(bounds)
    assert tuple(len(np.unique(column)) for column in values.T) == sides
    assert values.shape == unit.shape == (np.prod(sides), 3)
    assert len(np.unique(values, axis=0)) == len(accuracy) == len(std)
    assert ((unit.min(axis=0) == 0.0) & (unit.max(axis=0) == 1.0)).all()
    least, middle, most = levels
    assert least < accuracy.min() < middle < most < accuracy.max() < 1.0


def test_the_unit_scale_is_logarithmic():
    bounds = np.array([[32.0, 128.0], [1e-6, 1.0]])
    np.testing.assert_allclose(to_unit(np.array([[64.0, 1e-3]]), bounds), [[0.5, 0.5]], rtol=1e-12)


@pytest.mark.long
def test_training_again_gives_the_shipped_rows(script):
    table = data.logistic_tuning()
    shipped = np.column_stack([table.values, table.accuracy, table.std])
    some = np.flatnonzero(table.values[:, 0] == 64)[[0, 70, 90, 125, 168]]
    _, step_size, decay = table.values[some].T
    again = script.rows(script.breast_cancer(), 64, step_size, decay)
    # Where rounding differs between machines, one run may move by 1/171; these are means of 256 runs.
    np.testing.assert_allclose(again, shipped[some], atol=1e-4, rtol=1e-9)


def test_the_gradient_is_the_slope_of_the_cross_entropy(script):
    rng = np.random.default_rng(0)
    x, y, weights = rng.normal(size=(2, 7, 3)), rng.integers(2, size=(2, 7)) * 1.0, rng.normal(size=(2, 3, 4))

    def loss(w):
        z = x @ w  # (R, b, P)
        return (np.logaddexp(0.0, z) - y[:, :, None] * z).mean(axis=1)

    direction = rng.normal(size=weights.shape)
    slope = (loss(weights + 1e-6 * direction) - loss(weights - 1e-6 * direction)) / 2e-6
    # A central difference of step 1e-6 is good to about 1e-10.
    np.testing.assert_allclose((script.gradient(weights, x, y) * direction).sum(axis=1), slope, atol=1e-8)
