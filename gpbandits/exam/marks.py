"""Marks that the package's own entrants must reach in the whole exam, by part and title of a milestone."""

from collections.abc import Mapping

MARKS: Mapping[str, Mapping[str, float]] = {
    # FSBO's after 25 and 50 questions, which learns from other tables, and BOHAMIANN's after 100
    "hpo-b": {"25 questions": 0.0338, "50 questions": 0.0208, "100 questions": 0.0127},
    "crossed-barrel": {"question 96": 18.5},
    "boxes": {
        "Branin, 5 random + 20, worst": 0.27,
        "Branin at 33, mean": 0.01,
        "Branin at 25, worst": 0.30,
        "Hartmann 6 at 40, worst": 2.60,
        "Hartmann 6 at 57, median": 0.01,
        "Hartmann 6 at 120, share within .01": 1.0,
        "Gardner, 6 random + 12, worst": 0.005,
    },
}


def reaches(value: float, mark: float, more: bool) -> bool:
    """Return whether a number reaches a mark, of which more is better, or less."""
    return value >= mark if more else value <= mark
