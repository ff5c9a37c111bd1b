"""The examples for sphinx-gallery: where they run, and which pictures they draw."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

from bandit_envs.data import find
from bandit_envs.environment.registration import IDS
from bandit_envs.problems import data_files

EXAMPLES = Path(__file__).parents[1] / "examples"


def copied_examples(folder: Path) -> str:
    """Copy the scripts into a folder where they may leave files, and nothing lies of an earlier run."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in (*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.rst")):
        shutil.copy(file, folder)
    return str(folder)


def needed_files(example: Path) -> list[str]:
    """List the data files of the environments that an example names."""
    text = example.read_text(encoding="utf-8")
    return [file for env_id, problem in IDS.items() if env_id in text for file in data_files(problem)]


def runnable() -> str:
    """Return the pattern of the examples whose data files are on this machine; others show code alone."""
    names = [file.stem for file in EXAMPLES.glob("*.py") if all(map(find, needed_files(file)))]
    return rf"/({'|'.join(map(re.escape, sorted(names)))})\.py$"


def saved_pictures(block: Any, variables: dict[str, Any], gallery: dict[str, Any]) -> str:
    """The pictures that a block of an example has saved beside itself (an image scraper)."""
    saved = sorted(Path(variables["src_file"]).parent.glob("*.png"))
    shown = [shutil.move(picture, next(variables["image_path_iterator"])) for picture in saved]
    return figure_rst(shown, gallery["src_dir"], ", ".join(picture.stem for picture in saved))
