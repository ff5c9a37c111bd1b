"""The page on stopping states what the stored results say."""

from pathlib import Path

import pytest
from pages import loaded

from agents.stopping.by_name import RULES

ROOT = Path(__file__).parents[2]
script = loaded("benchmarks/stopping.py")

EVERYWHERE = ("gp-ei", "gp-ucb")  # players of all settings; the others play where the model is right
PAGE = (ROOT / "docs" / "stopping.md").read_text(encoding="utf-8")
ROWS = script.read(ROOT / "docs" / "results" / "stopping.csv")


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_a_row(rule):
    assert f"| `{rule}` |" in PAGE


def test_the_tables_are_those_of_the_results():
    tables = script.tables(ROWS)
    assert len(tables) >= 2
    for name, lines in tables.items():
        assert "\n".join(lines) in PAGE, name


def value(setting, player, rule, column):
    (row,) = [row for row in ROWS if (row["setting"], row["player"], row["rule"]) == (setting, player, rule)]
    return float(row[column])


def test_a_plateau_comes_later_with_a_regret_within_three_standard_errors():
    plateau, gradient = (
        [value("prior", "gp-ei", rule, column) for column in ("stop", "regret", "regret_se")]
        for rule in ("plateau", "kg 0.01")
    )
    assert f"{plateau[0] / gradient[0]:.1f} times the plays of `knowledge-gradient`" in PAGE  # of gp-ei
    assert abs(plateau[1] - gradient[1]) < 3 * (plateau[2] ** 2 + gradient[2] ** 2) ** 0.5


def test_expected_improvement_stays_three_times_as_long_under_noise():
    for player in script.PLAYERS:
        ratio = value("prior", player, "ei 0.01", "stop") / value("prior", player, "kg 0.01", "stop")
        assert f"{ratio:.1f} times as many plays" in PAGE


def test_the_agent_of_the_guarantee_stops_earlier_at_less():
    gradient, improvement = (
        [value("prior", player, "kg 0.01", column) for column in ("stop", "adjusted", "adjusted_se")]
        for player in ("kg-per-cost", "gp-ei")
    )
    assert improvement[1] - gradient[1] > 3.0 * (improvement[2] ** 2 + gradient[2] ** 2) ** 0.5
    assert (
        f"after {gradient[0]:.1f} plays at an adjusted regret of\n  {gradient[1]:.3f} ± {gradient[2]:.3f}"
        in PAGE
    )
    assert f"(`gp-ei`: {improvement[0]:.1f} plays, {improvement[1]:.3f} ± {improvement[2]:.3f})" in PAGE
    cheap = [value("prior", player, "kg 0.001", "stop") for player in ("kg-per-cost", "gp-ei")]
    assert f"after {cheap[0]:.1f} plays where `gp-ei` takes {cheap[1]:.1f}" in PAGE


def test_the_regret_bound_keeps_its_promise_under_the_right_prior():
    shares = [share("prior", player, "regret bound 0.9") for player in script.PLAYERS]
    assert (
        f"{', '.join(f'{each:.0%}' for each in shares[:-1])} and {shares[-1]:.0%} of the runs broke it"
        in PAGE
    )
    for player in script.PLAYERS:
        for delta, rule in ((0.1, "regret bound 0.9"), (0.05, "regret bound 0.95")):
            shares = [value("prior", player, rule, column) for column in ("broken", "stopped")]
            assert shares[0] / shares[1] <= delta + 0.01


def share(setting, player, rule):
    broken, stopped = (value(setting, player, rule, column) for column in ("broken", "stopped"))
    return broken / stopped


def test_promises_under_another_length_scale_are_as_the_page_says():
    for player in EVERYWHERE:
        assert share("half", player, "regret bound 0.9") <= 0.1
        assert share("half", player, "regret bound 0.95") <= 0.05
    for rule in ("regret bound 0.9", "gap, beta/5"):
        shares = [share("double", player, rule) for player in EVERYWHERE]
        assert " and ".join(f"{each:.0%}" for each in shares) in PAGE


def test_the_gap_with_the_width_of_the_theorem_hardly_ever_stopped():
    most = max(int(row["stopped"]) for row in ROWS if row["rule"] == "gap")
    assert f"stopped in at most {most} of 400 runs" in PAGE


def test_promises_of_learnt_kernels_are_as_the_page_says():
    for rule in ("regret bound 0.9", "regret bound 0.95"):
        shares = [share("learnt", player, rule) for player in EVERYWHERE]
        assert " and ".join(f"{each:.0%}" for each in shares) in PAGE


def test_rules_with_a_model_stop_late_on_the_tuning_table():
    text = " ".join(PAGE.split())
    for rule in ("kg 0.01", "plateau"):
        plays = [value("table", player, rule, "stop") for player in EVERYWHERE]
        adjusted = [
            value("table", player, rule, "regret") + 0.01 * each
            for player, each in zip(EVERYWHERE, plays, strict=True)
        ]
        assert f"takes {plays[0]:.1f} and {plays[1]:.1f}" in text
        assert f"{adjusted[0]:.2f} and {adjusted[1]:.2f}" in text
    for player in EVERYWHERE:
        for rule in ("regret bound 0.9", "regret bound 0.95"):
            assert value("table", player, rule, "broken") == 0
            assert value("table", player, rule, "never") > 0.5


def test_promises_under_a_constraint_are_as_the_page_says():
    text = " ".join(PAGE.split())
    for player in script.UNDER_COSTS:
        bounds = ("regret bound 0.9", "regret bound 0.95")
        assert " and ".join(f"{share('constrained', player, rule):.0%}" for rule in bounds) in text
        stays = [value("constrained", player, rule, "never") for rule in bounds]
        assert all(0.19 < each < 0.23 for each in stays) if player == "config" else stays == [0.0, 0.0]
    plays = (value("constrained", "constrained-ei", rule, "stop") for rule in ("kg 0.01", "plateau"))
    assert "stops `constrained-ei` after {:.1f} plays, `plateau` after {:.1f}".format(*plays) in text
