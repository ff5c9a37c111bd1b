"""The violation of an agent is reported relative to the reference agent's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpbandits.evaluation.result import Metric, Result

LONG_TERM, HARD = "long-term violation", "hard violation"
MEANING = (
    "A long-term constraint is kept on average: the long-term violation is the norm of the positive part of "
    "the summed costs, for which slack makes up, and is what agents for such constraints are made to keep at "
    "0; the hard violation sums the positive parts of the rounds, and is what the score charges. Both are "
    "relative to the mean of the reference agent, averaged over the environments with constraints."
)


KINDS: dict[str, Metric] = {LONG_TERM: "violation", HARD: "hard-violation"}


def relative_violation(results: Sequence[Result], label: str, reference: str, kind: str) -> float | None:
    """Return the mean violation relative to the reference's over environments with constraints; else None."""
    shares = []
    for result in results:
        if result.num_constraints and label in result.agents:
            curves = result.curves(KINDS[kind])
            own, other = (float(curves[who][:, -1].mean()) for who in (label, reference))
            shares += [own / other] if other > 0 else []
    return float(np.mean(shares)) if shares else None
