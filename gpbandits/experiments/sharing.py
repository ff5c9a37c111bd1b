"""A process keeps the environments of its cells, so that a large one is set up once."""

import json
from collections import OrderedDict
from typing import Any

import numpy as np

from gpbandits.evaluation.play import Stage
from gpbandits.experiments.study import Cell

MOST_BYTES = 2**30  # of the environments kept while another is made
_kept: OrderedDict[str, Stage] = OrderedDict()  # least recently used first


def stage_of(cell: Cell) -> Stage:
    """Return the environment of a cell, made by an earlier cell or now.

    A prior covariance is thus factorised once in a process, for all agents and blocks of trials. Results do
    not depend on this, since each trial is drawn from its own seed.
    """
    kwargs, files = cell.environment.kwargs, cell.code["files"]
    key = json.dumps([cell.environment.id, kwargs, files], sort_keys=True, default=repr)
    if key not in _kept:
        _make_room()
        _kept[key] = Stage(cell.environment.id, kwargs)
    _kept.move_to_end(key)
    return _kept[key]


def forget_stages() -> None:
    """Drop all environments, so that the next cells make new ones."""
    _kept.clear()


def _make_room() -> None:
    while _kept and sum(nbytes(stage, set()) for stage in _kept.values()) > MOST_BYTES:
        _kept.popitem(last=False)


def nbytes(thing: Any, seen: set[int]) -> int:
    """Return the bytes of all arrays reachable through attributes and collections, each counted once.

    Args:
        thing: the root object.
        seen: ids of the objects already counted; extended in place.
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
