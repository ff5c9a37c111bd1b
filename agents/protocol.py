"""What every agent has: three methods, by which everything that plays knows it."""

from __future__ import annotations

from typing import Any, Protocol


class Agent(Protocol):
    """Anything that acts and learns. Agents of B trials at once have a leading trial axis in every array.

    One that plays where arms may be missing reads "action_mask" in `info`, 1 of the arms that may be played
    in the next round: in `update`, and for the first round in a method `start(info)`, which is called after
    `reset` with the info of the environment's reset, where that has a mask.

    One that detects changes may say so in an attribute `alarms`, which is read after the episode: the rounds,
    counted from 0, after whose update it started anew by itself; for B trials, a list of B such lists. None
    is the same as no attribute.

    One that discards feedback after a window says so in an attribute `feedback_window`, read
    after the episode: a number, the same in all trials, in rounds, or in units of time where the setting
    publishes query times. Its simple regret then counts only plays whose feedback came in time.

    One that can tell that nothing keeps the constraints says in `infeasible_since`, read after the episode,
    in which round, counted from 0, it first found so, -1 if never; for B trials, B of them.

    One that knows which arms keep all costs says so in `certified`, read after the episode: booleans, (A,),
    for B trials (B, A), on a finite set in one context; None is the same as no attribute.

    One whose confidence band rests on a bound, such as that of the RKHS norm, that was neither given nor
    published says so in an attribute `assumes_bound = True`, read after the episode; tables mark it.
    """

    def reset(self, seed: int) -> None:
        """Forget everything; draw all randomness from this seed (B seeds for B trials)."""
        ...

    def act(self, observation: Any) -> Any:
        """Choose an action."""
        ...

    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        """Learn from a round; `observation` is the one that `act` saw."""
        ...
