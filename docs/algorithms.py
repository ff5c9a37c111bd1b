"""The page of all algorithms, made from the registry, their docstrings, their code and `algorithms.toml`.

python docs/algorithms.py
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agents.registry import features, names, resolve_agent

DOCS = Path(__file__).parent
OURS = "agents."
LEARNERS = "sb3"  # of stable-baselines3, of which one entry is for all
HEAD = """# Algorithms

Every algorithm by the name that `evaluate`, the studies and the command line know it by: what it
assumes, what is proved of its regret under that, its source, what it handles, and the sentence in parts
that builds it. Where nothing is proved the entry says so. *Bounded norm* is |f| <= B in the space of the
kernel and R-sub-Gaussian noise; *a sample* is f ~ GP(0, k) and Gaussian noise of variance lambda; C1 = 2
/ log(1 + 1 / lambda), for k(x, x) <= 1. Bounds are for one function and feedback at once unless they say
more. Those with a name are drawn by `result.plot(path, bounds=[bound(name, problem, agent)])`, `bound`
of `gpbandits.theory.overlays`, which refuses problems and agents that do not meet what they assume.
*From memory* marks rates of papers that were not at hand: they are no theorems here.

This page is made by `python docs/algorithms.py`; a test holds it to the registry.
"""


def page() -> str:
    """The whole page."""
    facts = tomllib.loads((DOCS / "algorithms.toml").read_text(encoding="utf-8"))
    return HEAD + "".join(_entry(name, facts[_key(name)]) for name in own_names())


def own_names() -> list[str]:
    """The registered names of this package, and of no other that is installed."""
    return [name for name in names() if resolve_agent(name).make.__module__.startswith(OURS)]


def keys() -> set[str]:
    """The entries that `algorithms.toml` must have."""
    return {_key(name) for name in own_names()}


def _key(name: str) -> str:
    return LEARNERS if name.startswith(f"{LEARNERS}-") else name


def _entry(name: str, fact: dict[str, str]) -> str:
    made = resolve_agent(name).make
    handled = [feature for feature, is_handled in features(name)._asdict().items() if is_handled]
    return f"""
## {name}

{_first_paragraph(made)}

- Assumes: {fact["assumes"]}
- Bound: {fact["bound"]}
- Handles: {", ".join(handled)}.

```text
{sentence(made)}
```
"""


def _first_paragraph(made: Callable[..., Any]) -> str:
    text = " ".join((inspect.getdoc(made) or "").split("\n\n")[0].split())
    return text.replace("*", r"\*").replace("|", r"\|")


def sentence(made: Callable[..., Any]) -> str:
    """The last `return` of a factory, the assignments that it needs, and the same of a helper it calls."""
    return "\n\n".join(_parts(made))


def _parts(made: Callable[..., Any]) -> Iterator[str]:
    function = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(made)))).body[0]
    assert isinstance(function, ast.FunctionDef)
    *others, last = _statements(function.body)
    assert isinstance(last, ast.Return)
    yield "\n".join(ast.unparse(statement) for statement in [*_needed(others, last), last])
    called = last.value.func if isinstance(last.value, ast.Call) else None
    if isinstance(called, ast.Name) and called.id.startswith("_"):
        yield f"# {called.id}"
        yield from _parts(getattr(inspect.getmodule(made), called.id))


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of a body, with those inside its `with` blocks in their place."""
    for statement in body:
        yield from _statements(statement.body) if isinstance(statement, ast.With) else (statement,)


def _needed(statements: list[ast.stmt], last: ast.stmt) -> list[ast.stmt]:
    """The assignments from which the last statement is made."""
    needed, kept = _names(last, ast.Load), []
    for statement in reversed(statements):
        if isinstance(statement, ast.Assign | ast.AnnAssign) and _names(statement, ast.Store) & needed:
            needed |= _names(statement, ast.Load)
            kept.append(statement)
    return kept[::-1]


def _names(statement: ast.stmt, context: type[ast.expr_context]) -> set[str]:
    nodes = ast.walk(statement)
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


if __name__ == "__main__":
    (DOCS / "algorithms.md").write_text(page(), encoding="utf-8")
