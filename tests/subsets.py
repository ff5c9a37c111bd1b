"""Every subset of the features that the composite environment can be without."""

from itertools import product

FEATURES = ("delay", "context", "changes", "constraints")
SUBSETS = [dict.fromkeys(off) for off in (
    [name for name, on in zip(FEATURES, switches, strict=True) if not on]
    for switches in product((False, True), repeat=4)
)]  # fmt: skip
