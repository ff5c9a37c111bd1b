"""Pages of every environment and agent, made from their docstrings when the site is built."""

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from agents.registry import names, resolve_agent
from bandit_envs.environment.registration import IDS
from bandit_envs.problems import FACTORIES, keywords_of


def write_reference(folder: Path) -> None:
    """Write `environments.md` and `agents.md` into a folder."""
    folder.mkdir(exist_ok=True)
    environments = ((env_id, FACTORIES[name], _keywords(name)) for env_id, name in IDS.items())
    agents = ((name, resolve_agent(name).make, "") for name in names())
    (folder / "environments.md").write_text(_page("Environments", environments), encoding="utf-8")
    (folder / "agents.md").write_text(
        _page("Agents", ((name, made, _features(made)) for name, made, _ in agents)), encoding="utf-8"
    )


def _page(title: str, entries: Iterable[tuple[str, Callable[..., Any], str]]) -> str:
    sections = [
        f"## {name}\n\n{note}\n\n```text\n{inspect.getdoc(made) or ''}\n```\n" for name, made, note in entries
    ]
    return f"# {title}\n\n" + "\n".join(sections)


def _keywords(problem: str) -> str:
    return "Keywords: " + ", ".join(f"`{keyword}`" for keyword in keywords_of(problem)) + "."


def _features(factory: Callable[..., Any]) -> str:
    features = getattr(factory, "features", None)
    handled = [name for name, is_handled in features._asdict().items() if is_handled] if features else []
    options = [p.name for p in inspect.signature(factory).parameters.values() if p.kind is p.KEYWORD_ONLY]
    shown = ", ".join(f"`{name}`" for name in options if name != "num_trials") or "none of its own"
    return f"Handles: {', '.join(handled) or 'nothing declared'}. Options: {shown}."
