"""The page on clicks and counts states what the stored results say."""

from pathlib import Path

import pytest
from pages import loaded

ROOT = Path(__file__).parents[2]
script = loaded("benchmarks/clicks.py")

PAGE = (ROOT / "docs" / "clicks.md").read_text(encoding="utf-8")
ROWS, BANDS, OTHERS = script.read(ROOT / "docs" / "results")
UCB = {w: f"Laplace-UCB, w = {w}" for w in (1, 2)}


def gap(agent, base):
    """Paired difference to the moment-matched UCB with its interval."""
    (row,) = [row for row in ROWS if row["agent"] == agent and float(row["base"]) == base]
    return tuple(float(row[name]) for name in ("difference", "low", "high"))


def test_the_tables_are_those_of_the_results():
    for name, lines in (script.tables(ROWS, BANDS) | script.tables_of_others(OTHERS)).items():
        assert "\n".join(lines) in PAGE, name


@pytest.mark.parametrize(("w", "base"), [(1, 0.0), (1, -3.0), (2, 0.0)])
def test_the_moment_matched_gaussian_is_not_significantly_different(w, base):
    _, low, high = gap(UCB[w], base)
    assert low < 0 < high


def test_differences_of_the_text_are_those_of_the_results():
    said = PAGE[PAGE.index("- **The moment-matched") :]
    ahead, high, low = (-each for each in gap(UCB[2], -3.0))
    assert high > ahead > low > 0
    assert f"by {ahead:.2f} [{low:.2f}, {high:.2f}]" in said
    for agent, base in (("Gaussian naive, UCB w = 2", -3.0), ("mixture band (delta = .1)", 0.0)):
        lost, low, high = gap(agent, base)
        assert low > 0
        assert f"{lost:.2f} [{low:.2f}, {high:.2f}]" in said
    assert gap("Gaussian naive, UCB w = 2", 0.0)[1] < 0


def test_sampling_has_more_regret_and_the_mode_alone_the_largest_spread():
    for agent in ("Laplace-TS", "Gaussian moment-matched, TS"):
        assert gap(agent, 0.0)[1] > 0
    for base in script.BASES:
        learners = {
            row["agent"]: float(row["se"])
            for row in ROWS
            if float(row["base"]) == base and row["agent"] != "uniform"
        }
        assert max(learners, key=learners.__getitem__) == "MAP only"


def test_the_band_failed_in_no_more_runs_than_it_may():
    assert all(int(row["failed"]) <= 0.1 * int(row["runs"]) for row in BANDS)


def test_the_functions_alone_may_explain_the_distance_to_the_independent_program():
    uniform = {float(row["base"]): row for row in ROWS if row["agent"] == "uniform"}
    errors = [float(uniform[base]["se"]) * 5**0.5 for base in script.BASES]
    apart = [
        float(uniform[base]["regret"]) - float(independent)
        for base, independent in zip(script.BASES, script.SHEET["uniform"], strict=True)
    ]
    assert all(abs(difference) < 2 * error for difference, error in zip(apart, errors, strict=True))
    text = " ".join(PAGE.split())
    assert f"is {errors[0]:.1f} and {errors[1]:.1f} (of 100" in text
    assert f"differs by {apart[0]:.1f} and {apart[1]:.1f}." in text


def of_others(problem, agent):
    """Return the paired difference of another problem with its interval."""
    (row,) = [row for row in OTHERS if row["problem"] == problem and row["agent"] == agent]
    return tuple(float(row[name]) for name in ("difference", "low", "high"))


def test_counts_late_conversions_and_a_learner_are_judged_as_the_results_say():
    assert of_others("counts", UCB[2])[1] < 0 < of_others("counts", UCB[2])[2]
    assert "loses 320.98 [77.30, 1025.99]" in " ".join(PAGE.split())
    assert of_others("counts", UCB[1]) == pytest.approx((320.98, 77.30, 1025.99), abs=0.006)
    assert "loses 2.65 [1.42, 4.02]" in PAGE
    found = of_others("conversions", "no delay, all outcomes reported")
    assert found == pytest.approx((-2.65, -4.02, -1.42), abs=0.006)
    assert of_others("conversions", "as no click")[1] > 0
    assert of_others("conversions", "not at all")[1] > 0
    regrets = [float(row["regret"]) for row in OTHERS if row["problem"] == "clicks"]
    assert regrets[0] / regrets[1] == pytest.approx(2.5, abs=0.1)


def test_on_a_box_only_sampling_differs_from_the_moment_matched_ucb():
    for w in (1, 2):
        _, low, high = of_others("box", UCB[w])
        assert low < 0 < high
    for agent in ("Laplace-TS", "Gaussian moment-matched, TS", "uniform"):
        assert of_others("box", agent)[1] > 0
