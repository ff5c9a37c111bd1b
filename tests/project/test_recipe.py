"""The conda recipe, built from the sdist, installed and tested: the channel is made of what is here."""

import hashlib
import runpy
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml
from conda_channel import make_channel

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "tools" / "recipe" / "recipe.yaml"
SCRIPT = runpy.run_path(str(ROOT / "tools" / "conda_recipe.py"))


def needed() -> list[str]:
    """Names of what the recipe requires besides Python."""
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


@pytest.mark.long
@pytest.mark.usefixtures("_possible")
def test_the_recipe_builds_from_the_sdist_and_passes_its_own_tests(tmp_path, monkeypatch):
    from rattler_build import Package, Stage0Recipe

    monkeypatch.setenv("RATTLER_CACHE_DIR", str(tmp_path / "cache"))
    build = ["-m", "build", "--no-isolation", "--sdist", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run([sys.executable, *build], check=True, cwd=tmp_path)
    (sdist,) = tmp_path.glob("*.tar.gz")
    (tmp_path / "recipe.yaml").write_text(SCRIPT["release"](sdist, local=True), encoding="utf-8")
    channel = make_channel(tmp_path, needed())
    (variant,) = Stage0Recipe.from_file(tmp_path / "recipe.yaml").render()
    built = variant.run_build(channels=[channel], output_dir=tmp_path / "out")
    (archive,) = built.packages
    tests = Package.from_file(archive).run_tests(channel=[channel])
    assert len(tests) == 2
    assert all(test.success for test in tests), [test.output for test in tests]
