"""Values that count alike, whatever is told of their noise."""

from __future__ import annotations

from bandit_envs.basics.types import Floats, Ints

from .delivered import Delivered


class Alike(Delivered):
    """Learns a value when it arrives, as one play of noise lambda.

    A value that may be corrupted, or of heavy tails, must not count for more than another because somebody
    says that it is precise.
    """

    weighs = False

    def weights(self, point: Ints, told: Floats | None = None) -> Floats | None:
        """Each is one."""
        return None
