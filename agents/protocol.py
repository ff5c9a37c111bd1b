"""The protocol of agents: three methods, and optional attributes."""

from __future__ import annotations

from typing import Any, Protocol


class Agent(Protocol):
    """Object that acts and learns. Agents of a batch of B trials have a leading trial axis in every array.

    An agent for settings where arms may be missing reads "action_mask" in `info`, 1 for the arms available in
    the next round: in `update`, and for the first round in a method `start(info)`, which is called after
    `reset` with the info of the environment's reset, where that has a mask.

    An agent that detects changes may have an attribute `alarms`, read after the episode: the rounds, counted
    from 0, after whose update it restarted by itself; for B trials, a list of B such lists. None equals no
    attribute.

    An agent that discards feedback after a window has an attribute `feedback_window`, read after the episode:
    a number for all trials, in rounds, or in units of time where the setting publishes query times. Its
    simple regret then counts only plays with feedback delivered in the window.

    An agent that can detect that no arm keeps the constraints has `infeasible_since`, read after the episode:
    the round, counted from 0, in which it first found so, -1 if never; for B trials, B of them.

    An agent that certifies arms that keep all costs has `certified`, read after the episode: booleans, (A,),
    for B trials (B, A), on a finite set in one context; None equals no attribute.

    An agent whose confidence band uses a bound, such as that of the RKHS norm, that was neither given nor
    published has an attribute `assumes_bound = True`, read after the episode; tables mark it.
    """

    def reset(self, seed: int) -> None:
        """Start anew; draw all randomness from this seed (B seeds for B trials)."""
        ...

    def act(self, observation: Any) -> Any:
        """Choose an action."""
        ...

    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round; `observation` is the argument of `act`."""
        ...
