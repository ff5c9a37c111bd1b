"""A belief that weights all values equally, whatever noise is published for them."""

from __future__ import annotations

from bandit_envs.basics.types import Floats, Ints

from .delivered import Delivered


class Alike(Delivered):
    """Belief that learns every value, when it is delivered, as one play of noise lambda.

    A value that may be corrupted, or heavy-tailed, must not have a larger weight than another because a small
    noise is published for it.
    """

    weighs = False

    def weights(self, point: Ints, told: Floats | None = None) -> Floats | None:
        """Return None: each play counts as one."""
        return None
