"""Sphinx configuration: `sphinx-build -W docs build/docs`.

It runs the tutorials and every example whose code has changed since, some minutes at first, but for examples
whose measurements are not on this machine: nothing is downloaded. `-D plot_gallery=0` runs no example, and
`-D sphinx_gallery_conf.filename_pattern='quickstart|own_rule'` those whose names match.
"""

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from cells import keep_in_one_line
from csvtables import StoredTable
from docstrings import process, skip
from gallery import copied_examples, runnable
from mathml import add_renderer
from notebooks import show_button
from outputs import show_outputs
from reference import write_reference
from typenames import shorten_types

project = "gpbandits"
author = "The gpbandits developers"
copyright = f"2026, {author}"
version = release = metadata.version("gpbandits")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["generated/examples"]
smartquotes_action = "qe"  # quotes and ellipses: two dashes begin an option
default_role = "code"  # of the examples' docstrings
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
html_theme = "furo"
html_title = "gpbandits"
html_static_path = ["static"]
html_css_files = ["tables.css", "pages.css"]
html_js_files = ["versions.js", "copy.js", "enlarge.js"]
html_search_scorer = str(Path(__file__).parent / "static" / "scorer.js")
html_logo = html_favicon = "static/logo.svg"

sphinx_gallery_conf = {
    "examples_dirs": copied_examples(Path(__file__).parent / "generated" / "examples"),
    "gallery_dirs": "generated/gallery",
    "filename_pattern": runnable(),
    "image_scrapers": ("gallery.saved_pictures",),
    "capture_repr": (),
    "show_signature": False,
    "write_computation_times": False,
}

autodoc_default_options = {"show-inheritance": True}
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True
napoleon_numpy_docstring = False


def setup(app):  # noqa: D103
    for kind in ("environment", "agent", "part", "command"):
        app.add_object_type(kind, kind, objname=kind)
    add_renderer(app)
    app.add_directive("csv-table", StoredTable, override=True)
    shorten_types()
    app.connect("builder-inited", lambda app: write_reference(Path(app.srcdir) / "generated"))
    app.connect("source-read", show_outputs)
    app.connect("source-read", show_button)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", process, priority=400)  # before napoleon
    app.connect("doctree-read", keep_in_one_line)
