"""The documentation site, built once for all tests that look at it."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
# The sdist has no figures and results of the pages, which these tests compare with the text.
collect_ignore_glob = [] if (DOCS / "results").is_dir() else ["test_*.py"]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the pages; a warning of the build is an error, and one example is run."""
    for module in ("sphinx", "furo", "myst_parser", "sphinx_gallery"):
        pytest.importorskip(module, reason="needs the extra `docs`")
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(folder / "trees")]
    command += ["-D", "sphinx_gallery_conf.filename_pattern=own_rule"]
    done = subprocess.run([*command, str(DOCS), str(folder / "site")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "site"
