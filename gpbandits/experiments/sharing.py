"""Environments that one process made for its cells: what was computed of a large one serves the next cell."""

import json
from collections import OrderedDict
from typing import Any

import numpy as np

from gpbandits.evaluation.play import Stage
from gpbandits.experiments.study import Cell

MOST_BYTES = 2**30  # in environments that are kept while another is made
_kept: OrderedDict[str, Stage] = OrderedDict()  # the latest last


def stage_of(cell: Cell) -> Stage:
    """The environment of a cell, which the cells before it may have made.

    A prior covariance is factorised once in a process, for all agents and blocks of trials. Trials are drawn
    from their seeds whatever was played before, so that results are the same.
    """
    kwargs, files = cell.environment.kwargs, cell.code["files"]
    key = json.dumps([cell.environment.id, kwargs, files], sort_keys=True, default=repr)
    if key not in _kept:
        _make_room()
        _kept[key] = Stage(cell.environment.id, kwargs)
    _kept.move_to_end(key)
    return _kept[key]


def forget_stages() -> None:
    """Make all environments anew for the next cells."""
    _kept.clear()


def _make_room() -> None:
    while _kept and sum(nbytes(stage, set()) for stage in _kept.values()) > MOST_BYTES:
        _kept.popitem(last=False)


def nbytes(thing: Any, seen: set[int]) -> int:
    """The memory of all arrays that can be reached through attributes and collections, each once.

    Args:
        thing: anything.
        seen: ids of what is counted already.
    """
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        owner = thing if thing.base is None else thing.base
        return thing.nbytes if owner is thing else nbytes(owner, seen)
    if isinstance(thing, dict):
        inside = list(thing.values())
    else:
        inside = (
            list(thing) if isinstance(thing, list | tuple) else list(getattr(thing, "__dict__", {}).values())
        )
    return sum(nbytes(each, seen) for each in inside)
