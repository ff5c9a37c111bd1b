"""A result is shown in a few lines of text."""

from __future__ import annotations

from gpbandits.evaluation.curves import Curves

MOST = 20  # agents that are named
LONGEST = 60  # characters of a label


def result_text(result: Curves) -> str:
    """Return trials, rounds, seed, and each agent's mean regret and, with constraints, violation."""
    trials = "1 trial" if result.num_trials == 1 else f"{result.num_trials} trials"
    finals = {label: float(regret[:, -1].mean()) for label, regret in result.main.items()}
    asked = result.curves(result.asked) if result.asked else {}
    beside = {label: f", {curve[:, -1].mean():.4g}" for label, curve in asked.items()}
    lines = [
        f"  {_short(result.marked(label))}: {finals[label]:.4g}{beside.get(label, '')}"
        for label in result.ordered[:MOST]
    ]
    played = f"{trials} of {result.horizon} rounds, seed {result.seed}"
    what = "mean budget regret" if result.spent else "mean regret"
    what += f", mean {result.asked.replace('-', ' ')}" if result.asked else ""
    first = f"Result of {_short(result.environment)}, {played}; {what}:"
    left = len(finals) - MOST
    return "\n".join([first, *lines, *([f"  and {left} more agents"] if left > 0 else [])])


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
