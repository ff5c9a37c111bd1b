"""The entry of each agent in the reference, made from the registry, its docstring and `facts.toml`."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any

from docstrings import as_rst, linked
from public import own_agents, place

from agents.options import typed_dict_of
from agents.registry import features, resolve_agent

LEARNERS = "sb3"  # of stable-baselines3, of which one entry of facts is for all
NOTATION = r"""For looking up one agent: what it plays, its source, what it needs and promises, its
options. :doc:`Which agent? </agents>` chooses by setting. Where nothing is proved the entry says so,
and *from memory* marks rates of papers that were not at hand: they are no theorems here.

:math:`\mu, \sigma` are the posterior mean and standard deviation, :math:`u = \mu + w \sigma` and
:math:`l = \mu - w \sigma` the ends of a band of width :math:`w`, :math:`k` the kernel,
:math:`\gamma` the information gain, :math:`D` the arms, :math:`T` the horizon, :math:`g_j` costs
that are kept at or below 0. *Bounded norm* is :math:`\|f\|_k \le B` and R-sub-Gaussian noise; *a
sample* is :math:`f \sim GP(0, k)` and Gaussian noise of variance :math:`\lambda`; :math:`C_1 = 2 /
\log(1 + 1 / \lambda)` for :math:`k(x, x) \le 1`. Bounds are for one function and immediate feedback
unless they say more. Bounds with a name are drawn by ``result.plot(path, bounds=[bound(name,
problem, agent)])``, with ``bound`` of :py:mod:`gpbandits.theory.overlays`, which refuses problems and agents
that do not meet what they assume."""
LINE = 78  # letters of an example, beside its call
LINK = re.compile(r"\[(\w+)\]\((\w+)\.md\)")
DELTA = "failure probability of the band."
PARAMETER = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)")


@cache
def facts() -> dict[str, dict[str, str]]:
    """Return what is said of each agent beside its docstring."""
    return tomllib.loads((Path(__file__).parent / "facts.toml").read_text(encoding="utf-8"))


def key(name: str) -> str:
    """Return the name under which `facts.toml` has an agent."""
    return LEARNERS if name.startswith(f"{LEARNERS}-") else name


def entries() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each agent's entry."""
    for name in own_agents():
        yield name, "\n\n".join(_entry(name, resolve_agent(name).make, facts()[key(name)]))


def _entry(name: str, made: Callable[..., Any], fact: dict[str, str]) -> Iterator[str]:
    about, effects = _parsed(inspect.getdoc(made) or "")
    source, *more = about.split("\n\n")
    yield _rst(source)
    if "formula" in fact:
        yield f".. math::\n\n   {fact['formula']}"
    yield from map(_rst, more)
    handled = [feature for feature, is_handled in features(name)._asdict().items() if is_handled]
    needs, promises = _linked(fact["assumes"]), _linked(fact["bound"])
    yield f"- Needs: {needs}\n- Promises: {promises}\n- Handles: {', '.join(handled)}."
    yield "\n".join(_options(made, effects))
    yield f"Example::\n\n{indent(example(name), '   ')}"
    yield f"Made by :py:func:`{place(made)}`."


def example(name: str) -> str:
    """Return code that compares an agent with random play, and that with GP-UCB, where it fits."""
    env_id, keywords = _stage(name)
    given = f", env_kwargs={{{', '.join(f'{key!r}: {value!r}' for key, value in keywords.items())}}}"
    rival = "gp-ucb" if name == "random" else "random"
    made = f'"{env_id}", ["{name}", "{rival}"], trials=2{given}'.replace("'", '"')
    if len(made) > LINE:
        made = made.replace(", env_kwargs", ",\n    env_kwargs")
        made = f"\n    {made},\n"
    return f"evaluate({made}).table()"


def _stage(name: str) -> tuple[str, dict[str, Any]]:
    handles, module = features(name), resolve_agent(name).make.__module__.rpartition(".")[2]
    short = {"num_arms": 30, "horizon": 30}
    if module.startswith("duel"):
        return "GPBandit-Duel-v0", {"horizon": 30}
    if module in ("delayed", "aggregated"):
        return "GPBandit-Delayed-v0", short | ({"aggregated": True} if handles.aggregated else {})
    if module == "budgets":
        return "GPBandit-Budget-v0", short
    if handles.constraint and handles.change and not handles.seed and name == "gp-agent":
        return "GPBandit-Composite-v0", short
    if handles.constraint and name != "random":
        return "GPBandit-Constrained-v0", short | ({"safe_seed": True} if handles.seed else {})
    return (
        "GPBandit-PiecewiseStationary-v0" if handles.change and name != "random" else "GPBandit-GP-v0"
    ), short


def _parsed(docstring: str) -> tuple[str, dict[str, str]]:
    """Return what a docstring says before its arguments, and what it says of each of them."""
    about, _, rest = docstring.partition("\nArgs:\n")
    effects: dict[str, str] = {}
    last: list[str] = []
    for line in rest.split("\n\n")[0].splitlines():
        found = PARAMETER.fullmatch(line.strip()) if line[4:5].strip() else None
        if found:
            last = found[1].split(", ")
            effects |= dict.fromkeys(last, found[2])
        else:
            effects |= {each: f"{effects[each]} {line.strip()}" for each in last}
    return about.strip(), effects


def _options(made: Callable[..., Any], effects: dict[str, str]) -> Iterator[str]:
    given = [p for p in inspect.signature(made).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for each in given:
        if each.name != "num_trials":
            effect = effects.get(each.name, DELTA if each.name == "delta" else "")
            yield f"- ``{each.name}={each.default!r}``{': ' if effect else ''}{_linked(effect)}"
    if handed_on := typed_dict_of(made):
        yield f"- those of :py:obj:`{place(handed_on)}`"


def _rst(paragraph: str) -> str:
    return "\n".join(as_rst(paragraph.splitlines()))


def _linked(text: str) -> str:
    return LINK.sub(r":doc:`\1 </\2>`", linked(text.replace("\\*", "*")))
