"""A result in a few lines of text, whatever its size."""

from __future__ import annotations

from gpbandits.evaluation.curves import Curves

MOST = 20  # agents that are named
LONGEST = 60  # characters of a label


def result_text(result: Curves) -> str:
    """What was played, and the mean regret of the agents, of the budget where there is one, least first."""
    trials = "1 trial" if result.num_trials == 1 else f"{result.num_trials} trials"
    finals = {label: float(regret[:, -1].mean()) for label, regret in result.main.items()}
    ranked = sorted(finals, key=lambda label: finals[label])
    lines = [f"  {_short(result.marked(label))}: {finals[label]:.4g}" for label in ranked[:MOST]]
    played = f"{trials} of {result.horizon} rounds, seed {result.seed}"
    what = "mean budget regret" if result.spent else "mean regret"
    first = f"Result of {_short(result.environment)}, {played}; {what}:"
    left = len(ranked) - MOST
    return "\n".join([first, *lines, *([f"  and {left} more agents"] if left > 0 else [])])


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
