"""Sphinx configuration: `sphinx-build -W docs build/docs`."""

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from reference import write_reference

project = "gpbandits"
author = "The gpbandits developers"
copyright = f"2026, {author}"
version = release = metadata.version("gpbandits")

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
extensions += ["gallery"]  # beside this file
html_theme = "furo"
html_title = "gpbandits"
html_static_path = ["static"]
html_css_files = ["tables.css"]


def setup(app):  # noqa: D103
    app.connect("builder-inited", lambda app: write_reference(Path(app.srcdir) / "generated"))
