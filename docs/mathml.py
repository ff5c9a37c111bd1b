"""Formulas as MathML, which browsers show by themselves: pages load nothing from a network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

ARG = r"\arg\m"  # of arg max and arg min, which the converter does not know


def as_mathml(formula: str, display: str) -> str:
    """Return a formula of LaTeX as MathML; a command that would be printed as it stands is an error."""
    made = convert(formula.replace(ARG, r"\text{arg}\," + ARG[-2:]), display=display)
    if "\\" in made:
        raise ValueError(f"no MathML for a command of the formula {formula!r}")
    return made


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(as_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, which scrolls where it is wider than the page."""
    translator.body.append(f'<div class="math">{as_mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def add_renderer(app: Any) -> None:
    """Make MathML what `html_math_renderer = "mathml"` names."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
