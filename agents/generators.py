"""Protection of the global random generators from agents that use them."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def preserved_generators() -> Iterator[None]:
    """Restore Python's, numpy's and torch's global generators on leaving."""
    python, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002 (the state that agents share)
    torch = sys.modules.get("torch")  # agents that use it have imported it
    state = None if torch is None else torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)  # noqa: NPY002
        if torch is not None:
            torch.set_rng_state(state)
