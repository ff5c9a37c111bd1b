"""The conda recipe, built, installed and imported: the builder is real, the channel made of what is here."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest
import yaml
from conda_channel import make_channel

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "tools" / "recipe" / "recipe.yaml"


def needed() -> list[str]:
    """Names of what the recipe requires besides Python."""
    requirements = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))["requirements"]
    names = [line.split()[0] for line in (*requirements["host"], *requirements["run"])]
    return sorted(set(names) - {"python"})


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
def test_the_recipe_builds_and_what_it_built_can_be_imported(tmp_path, monkeypatch):
    from rattler_build import Package, Stage0Recipe

    monkeypatch.setenv("RATTLER_CACHE_DIR", str(tmp_path / "cache"))
    channel = make_channel(tmp_path, needed())
    (variant,) = Stage0Recipe.from_file(RECIPE).render()
    built = variant.run_build(channels=[channel], output_dir=tmp_path / "out")
    (archive,) = built.packages
    tests = Package.from_file(archive).run_tests(channel=[channel])
    assert tests
    assert all(test.success for test in tests), [test.output for test in tests]
