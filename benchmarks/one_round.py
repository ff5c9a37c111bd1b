"""Counts what one round of an agent passes through: calls, files, and objects inside one another.

    python benchmarks/one_round.py [--agent gp-ucb] [--env GPBandit-GP-v0] [--show]

A round is one `act` and one `update`, the hundredth of a trial. Calls are Python functions of our packages
(`sys.setprofile`); files are the modules that they stand in. Depth counts the agents that `agents.make` put
inside one another. These are counts: they do not depend on the machine.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any

import agents
from bandit_envs import make

OURS = ("agents.", "bandit_envs.", "gpbandits.")
ROUND = 100


def count(agent_name: str, env_id: str, **keywords: Any) -> tuple[Counter[tuple[str, str]], int]:
    """Calls by (module, function) in one round, and the number of agents inside one another."""
    env = make(env_id, **keywords)
    observation, info = env.reset(seed=0)
    agent = agents.make(agent_name, env)
    agent.reset(0)
    if hasattr(agent, "start"):
        agent.start(info)
    for _ in range(min(ROUND, env.get_wrapper_attr("setting").horizon // 2)):
        action = agent.act(observation)
        following, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward, info)
        observation = following
    action, calls = counted(lambda: agent.act(observation))
    _, reward, _, _, info = env.step(action)
    _, more = counted(lambda: agent.update(observation, action, reward, info))
    return calls + more, depth(agent)


def counted(call: Callable[[], Any]) -> tuple[Any, Counter[tuple[str, str]]]:
    """Return what a call returns, and the calls in it by (module, function)."""
    calls: Counter[tuple[str, str]] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        is_function = frame.f_code.co_flags & CO_OPTIMIZED  # and not the body of a module or a class
        if event == "call" and is_function and module.startswith(OURS):
            calls[module, frame.f_code.co_qualname] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        return call(), calls
    finally:
        sys.setprofile(before)


def depth(agent: Any) -> int:
    """Agents inside one another: each has an attribute that can act."""
    inner = [each for each in vars(agent).values() if hasattr(each, "act") and hasattr(each, "update")]
    return 1 + max(map(depth, inner), default=0)


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--agent", default="gp-ucb")
    parser.add_argument("--env", default="GPBandit-GP-v0")
    parser.add_argument("--show", action="store_true", help="print every function")
    chosen = parser.parse_args()
    calls, deep = count(chosen.agent, chosen.env)
    if chosen.show:
        for (module, function), times in calls.items():
            print(f"{times:4}  {module}  {function}")
    files = {module for module, _ in calls}
    print(f"{chosen.agent}: {calls.total()} calls in {len(files)} files, {deep} deep")


if __name__ == "__main__":
    main()
