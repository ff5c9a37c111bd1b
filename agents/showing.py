"""The display of an agent in notebooks."""

from __future__ import annotations

from typing import Any

from bandit_envs.basics.notebook import brief, html_facts


class Shown:
    """Agent that notebooks show as a small table of its setting."""

    def _repr_html_(self) -> str:
        return html_facts(type(self).__name__, facts_of(self))


def facts_of(agent: Any) -> dict[str, str]:
    """Return the agent's setting and number of rounds, as texts."""
    setting, size = getattr(agent, "setting", None), getattr(agent, "num_trials", None)
    facts = {}
    if setting is not None:
        facts["plays"] = "a box" if setting.continuous else f"{len(setting.arms)} arms"
        facts["dimensions"] = str(setting.dim)
        facts["contexts"] = _contexts(setting)
        facts["constraints"] = str(setting.num_constraints)
        facts["horizon"] = f"{setting.horizon} rounds"
        facts["published kernel"] = brief(setting.kernel)
    facts["trials"] = "one" if size is None else f"batch of {size}"
    done = getattr(agent, "round", None)
    if isinstance(done, int):
        facts["rounds played"] = str(done) if done >= 0 else "none: reset it with a seed first"
    return facts


def _contexts(setting: Any) -> str:
    if not setting.has_contexts:
        return "none"
    return "of a box" if setting.contexts is None else str(len(setting.contexts))
