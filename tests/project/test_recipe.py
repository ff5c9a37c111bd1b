"""The conda recipe, built from the sdist, installed and tested: the channel is made of what is here."""

import asyncio
import hashlib
import runpy
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "tools" / "recipe" / "recipe.yaml"
SCRIPT = runpy.run_path(str(ROOT / "tools" / "conda_recipe.py"))


def needed() -> list[str]:
    requirements = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))["requirements"]
    names = [line.split()[0] for line in (*requirements["host"], *requirements["run"])]
    return sorted(set(names) - {"python"})


def test_a_release_has_the_version_and_the_checksum_of_its_sdist(tmp_path):
    sdist = tmp_path / "gpbandits-1.2.3.tar.gz"
    sdist.write_bytes(b"a release")
    made = yaml.safe_load(SCRIPT["release"](sdist))
    assert made["context"]["version"] == "1.2.3"
    assert made["source"]["sha256"] == hashlib.sha256(b"a release").hexdigest()
    assert made["source"]["url"].endswith("/gpbandits-${{ version }}.tar.gz")
    local = yaml.safe_load(SCRIPT["release"](sdist, local=True))
    assert local["source"] == {"url": sdist.as_uri(), "sha256": made["source"]["sha256"]}
    assert {**local, "source": 0} == {**made, "source": 0}
    with pytest.raises(ValueError, match=r"must be named gpbandits-VERSION\.tar\.gz"):
        SCRIPT["release"](tmp_path / "other.zip")


@pytest.fixture
def _possible():
    pytest.importorskip("rattler_build", reason="needs py-rattler-build")
    pytest.importorskip("rattler", reason="needs py-rattler")
    python = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))["context"]["python_min"]
    if sysconfig.get_python_version() != python:
        pytest.skip(f"the recipe builds with Python {python}")
    if "site-packages" not in sysconfig.get_path("purelib", sysconfig.get_default_scheme()):
        pytest.skip("needs a Python whose packages lie in site-packages")


LIBRARY = f"lib/python{sysconfig.get_python_version()}"
UNUSED = shutil.ignore_patterns("site-packages", "__pycache__", "test", "idlelib", "tkinter", "*.a")
PIP = "#!/usr/bin/env python\nimport sys\nfrom pip._internal.cli.main import main\nsys.exit(main())\n"


def make_channel(folder: Path, wanted: list[str]) -> str:
    """Pack Python, what is wanted and all that this needs; the channel's address."""
    from rattler import Subdir
    from rattler.index import index_fs
    from rattler_build import assemble_package

    platform = str(Subdir.current())
    into = folder / "channel" / platform
    into.mkdir(parents=True)

    def pack(name: str, version: str, depends: list[str]) -> None:
        staged = folder / "staged" / name
        assemble_package(
            name, version, platform, "here_0", into, files_dir=staged, depends=depends, compression_level=1
        )

    _stage_python(folder / "staged" / "python")
    pack("python", ".".join(map(str, sys.version_info[:3])), [])
    for name, found in _closure(wanted).items():
        _stage(found, folder / "staged" / name)
        pack(name, found.version, [f"python {sysconfig.get_python_version()}.*", *_needs(found)])
    asyncio.run(index_fs(folder / "channel"))
    return (folder / "channel").as_uri()


def _closure(wanted: list[str]) -> dict[str, Distribution]:
    """The distributions by the names that conda gives them."""
    found: dict[str, Distribution] = {}
    names = list(wanted)
    while names:
        name = names.pop()
        if name not in found:
            found[name] = distribution(name.removesuffix("-base"))  # matplotlib-base has no windows
            names += _needs(found[name])
    return found


def _needs(found: Distribution) -> list[str]:
    """Names of what a distribution requires here, without extras."""
    requirements = [Requirement(line) for line in found.requires or []]
    return [
        each.name.lower().replace("_", "-")
        for each in requirements
        if each.marker is None or each.marker.evaluate({"extra": ""})
    ]


def _stage_python(staged: Path) -> None:
    """The interpreter and its standard library, where they lie in any prefix."""
    shutil.copytree(sysconfig.get_path("stdlib"), staged / LIBRARY, symlinks=True, ignore=UNUSED)
    (staged / "bin").mkdir()
    interpreter = Path(sys.base_prefix, "bin", f"python{sysconfig.get_python_version()}")
    shutil.copy(interpreter, staged / "bin")
    for name in ("python", "python3"):
        (staged / "bin" / name).symlink_to(interpreter.name)
    shared = Path(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME"))
    if ".so" in shared.name:
        shutil.copy(shared, staged / "lib")


def _stage(found: Distribution, staged: Path) -> None:
    """The files of a distribution in site-packages; of commands that of pip alone, for any prefix."""
    for file in found.files or []:
        if ".." not in file.parts and "__pycache__" not in file.parts:
            place = staged / LIBRARY / "site-packages" / str(file)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(found.locate_file(file)), place)
    if found.name == "pip":
        (staged / "bin").mkdir()
        (staged / "bin" / "pip").write_text(PIP, encoding="utf-8")
        (staged / "bin" / "pip").chmod(0o755)


@pytest.mark.long
@pytest.mark.usefixtures("_possible")
def test_the_recipe_builds_from_the_sdist_and_passes_its_own_tests(tmp_path, monkeypatch):
    from rattler_build import Package, Stage0Recipe

    monkeypatch.setenv("RATTLER_CACHE_DIR", str(tmp_path / "cache"))
    build = ["-m", "build", "--no-isolation", "--sdist", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run([sys.executable, *build], check=True, cwd=tmp_path)
    (sdist,) = tmp_path.glob("*.tar.gz")
    recipe = tmp_path / "recipe" / "recipe.yaml"
    recipe.parent.mkdir()  # with nothing else, since the package has a copy of the whole folder
    recipe.write_text(SCRIPT["release"](sdist, local=True), encoding="utf-8")
    channel = make_channel(tmp_path, needed())
    (variant,) = Stage0Recipe.from_file(recipe).render()
    built = variant.run_build(channels=[channel], output_dir=tmp_path / "out")
    (archive,) = built.packages
    tests = Package.from_file(archive).run_tests(channel=[channel])
    assert len(tests) == 2
    assert all(test.success for test in tests), [test.output for test in tests]
