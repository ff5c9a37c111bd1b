"""What sphinx-gallery is told of the examples: where they run, and which pictures they draw."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

EXAMPLES = Path(__file__).parents[1] / "examples"


def copied_examples(folder: Path) -> str:
    """Copy the scripts into a folder where they may leave files, and nothing lies of an earlier run."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in (*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.rst")):
        shutil.copy(file, folder)
    return str(folder)


def saved_pictures(block: Any, variables: dict[str, Any], gallery: dict[str, Any]) -> str:
    """The pictures that a block of an example has saved beside itself (an image scraper)."""
    saved = sorted(Path(variables["src_file"]).parent.glob("*.png"))
    shown = [shutil.move(picture, next(variables["image_path_iterator"])) for picture in saved]
    return figure_rst(shown, gallery["src_dir"], ", ".join(picture.stem for picture in saved))
