"""What a file of results says of its origin: which code played what, and when."""

import hashlib
import re
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from agents.registry import AgentFactory, agent_modules
from bandit_envs.environment.envs import EnvLike, make
from bandit_envs.laws.tabulated import RecordedValues
from bandit_envs.problem.problem import Problem
from gpbandits.evaluation.provenance import digests, modules_of_environment, sources, versions, versions_of

Origin = Mapping[str, Any]  # plain data
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # of a function, another in each process
_NUMBER = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?")
CODE = ("commit", "code", "versions")  # parts that a result has once it was saved


def origin(environment: EnvLike, problem: Problem | None, factories: Iterable[AgentFactory]) -> Origin:
    """Return what a result says of its origin when it was played; `signed` adds the code, which is slower."""
    asked = list(factories)
    return {
        "played": "" if problem is None else fingerprint(problem),
        "agents": sorted(map(_asked, asked)),
        "finished": now(),
        "modules": sorted(_modules(environment, asked)),
    }


def code_of(environment: EnvLike, factories: Iterable[AgentFactory]) -> dict[str, Any]:
    """Return digests and versions of the code of an environment and of agents."""
    modules = sorted(_modules(environment, factories))
    return {"code": digests(modules), "versions": versions_of(modules)}


def signed(played: Origin) -> Origin:
    """Return an origin with commit, code and versions of this process, unless it has those of another."""
    if set(CODE) <= set(played):
        return played
    modules = played["modules"]
    return {**played, "commit": commit(), "code": digests(modules), "versions": versions_of(modules)}


def checked(origins: Any) -> tuple[Origin, ...]:
    """Return origins that a file holds; a ValueError unless they have the parts that `signed` writes."""
    kinds = {"played": str, "finished": str, "modules": list, "commit": str, "code": dict, "versions": dict}
    for each in origins:
        if not isinstance(each, dict) or any(not isinstance(each.get(x), kinds[x]) for x in kinds):
            raise ValueError(f"an origin must have {', '.join(kinds)}, got {each!r}")
    return tuple(origins)


def brief(origins: Iterable[Origin]) -> list[str]:
    """Return a line for each origin that names its code: time, version, commit and what was played."""
    return [
        f"played until {each['finished']} by gpbandits {each['versions'].get('gpbandits', '?')}"
        + (f" of commit {each['commit'][:8]}" if each["commit"] else "")
        + (f", environment {each['played']}" if each["played"] else "")
        for each in origins
        if set(CODE) <= set(each)
    ]


def stamp(env_id: str, kwargs: Mapping[str, Any], agent: str) -> dict[str, Any]:
    """Return what an archive says of its origin: id, commit, code, versions, time, and what was played."""
    code = {"code": sources(env_id, agent), "versions": versions(agent)}
    return {"id": env_id, "commit": commit(), **code, "written": now(), "played": played(env_id, kwargs)}


def played(env_id: str, kwargs: Mapping[str, Any]) -> str:
    """Return the fingerprint of the problem of an environment."""
    made = make(env_id, **kwargs)
    problem: Problem = made.unwrapped.problem  # type: ignore[attr-defined]
    made.close()
    return fingerprint(problem)


def fingerprint(problem: Problem) -> str:
    """Return a hash of points, horizon, parts and a table's values, to six digits: processors share these."""
    said = _ADDRESS.sub("", repr((problem.name, problem.horizon, sorted(problem.composed.items()))))
    total = hashlib.sha256(_NUMBER.sub(lambda found: f"{float(found[0]):.6g}", said).encode())
    parts = [problem.decisions.contexts, problem.decisions.arms]
    if isinstance(problem.reward, RecordedValues):
        parts.append(problem.reward.among(problem.decisions.points))
    for part in parts:
        if part is not None and part.size:
            size = float(np.abs(part).max()) or 1.0
            total.update(f"{size:.6g}".encode() + (np.round(part / size, 6) + 0.0).tobytes())
    return total.hexdigest()[:16]


@cache  # a file of a run that takes hours names the code that the process began with
def commit() -> str:
    """Return the commit of the checkout of this code, with "+" if files were changed; "" without one."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return ""
    git = ["git", "-C", str(root)]
    with suppress(OSError, subprocess.CalledProcessError):
        head, changed = (
            subprocess.run([*git, *words], capture_output=True, text=True, check=True).stdout.strip()
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "-uno"])
        )
        return head + ("+" if changed else "")
    return ""


def agents_of(origins: Iterable[Origin]) -> list[str]:
    """Return the hashes of the agents and options that were played, each once; none of older files."""
    return sorted({each for part in origins for each in part.get("agents", ())})


def _asked(factory: AgentFactory) -> str:
    """Return the hash of what an agent is made from; two functions of one name count as equal."""
    maker = factory.name or f"{factory.make.__module__} {getattr(factory.make, '__qualname__', '')}"
    said = _ADDRESS.sub("", repr((maker, sorted(factory.options.items(), key=itemgetter(0)))))
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _modules(environment: EnvLike, factories: Iterable[AgentFactory]) -> set[str]:
    """Return the modules that define an environment and agents, as far as their kinds say."""
    if isinstance(environment, str):
        found = modules_of_environment(environment)
    else:
        found = {(type(environment) if isinstance(environment, Problem) else environment).__module__}
    return found.union(*(agent_modules(x.name) if x.name else {x.make.__module__} for x in factories))


def now() -> str:
    """Return the time to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
