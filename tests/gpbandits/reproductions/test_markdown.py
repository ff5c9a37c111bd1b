"""Tables of reproductions say each problem, claim and parameter once."""

import dataclasses

import pytest
from synthetic import result as synthetic_result

from gpbandits.reproductions.markdown import claims_text, means_text, table_of_tests, verdict_line
from gpbandits.reproductions.verdicts import HOLDS, OPEN, REVERSED, Judged, Row


def judged(*rows: Row, says: str = "It holds.", reading: str = "") -> Judged:
    return Judged.of(says, reading, rows)


def test_a_sentence_of_two_readings_is_printed_once_with_both_verdicts():
    pair = [judged(Row("E", "a < b", "1", verdict), reading=f"({verdict})") for verdict in (HOLDS, OPEN)]
    assert claims_text(pair) == (
        f"- **1**, **2** It holds. *Holds.* (holds) *No significant difference.* ({OPEN})"
    )
    assert verdict_line([*pair, pair[1]]) == "1: holds; 2, 3: n.s."


@pytest.mark.parametrize(
    ("p_value", "shown"), [("0.0009", ""), ("0.05", " (p = 0.05)"), ("0.5", ""), ("", "")]
)
def test_a_p_value_is_shown_near_the_level_only(p_value, shown):
    table = table_of_tests([judged(Row("E", "a < b (simple)", "+1", HOLDS, p_value=p_value))])
    assert table.splitlines() == [
        "| claim | test (simple) | measured |",
        "| --- | --- | --- |",
        f"| 1 | a < b | +1 holds{shown} |",
    ]


def test_problems_with_the_same_tests_are_columns_and_others_rows():
    rows = [Row(problem, f"{less} < c", f"{problem}{less}", HOLDS) for less in "ab" for problem in "EF"]
    assert table_of_tests([judged(*rows)]).splitlines()[2:] == [
        "| 1 | a < c | Ea holds | Fa holds |",
        "|  | b < c | Eb holds | Fb holds |",
    ]
    lone = [Row("E", "a < c", "1", HOLDS), Row("F", "b < c", "2", REVERSED)]
    assert table_of_tests([judged(*lone)]).splitlines()[2:] == [
        "| 1 | E | a < c | 1 holds |",
        "|  | F | b < c | 2 **reversed** |",
    ]
    assert table_of_tests([judged()]) == ""


def test_environments_are_columns_if_few_and_the_size_of_trials_is_said_once():
    first = synthetic_result()
    second = dataclasses.replace(first, environment="another")
    size = f"{first.num_trials} trials of {first.horizon} rounds, seed {first.seed}"
    beside = means_text([first, second], ["regret", "simple_regret"]).split("\n\n")
    assert beside[0] == f"{size}:"
    places = first.environment, second.environment
    names = [f"{place}, {metric}" for place in places for metric in ("regret", "simple regret")]
    assert beside[1].splitlines()[0] == f"| agent | {' | '.join(names)} |"
    assert len(beside[1].splitlines()) == 2 + len(first.agents)
    three = means_text([first, second], ["regret", "simple_regret", "average_regret"])
    below = three.split("\n\n")[1].splitlines()
    assert below[0] == "| environment | agent | regret | simple regret | average regret |"
    assert below[2 + len(first.agents)].startswith("| another |")
    alone = means_text([first, second], ["simple_regret"]).split("\n\n")[1]
    assert alone.startswith(f"| agent (simple regret) | {first.environment} | another |\n")
    assert means_text([first], ["simple_regret"]).startswith(f"{first.environment}: {size}.")
    other_seed = dataclasses.replace(second, seed=9)
    assert f"another ({first.num_trials} trials of {first.horizon} rounds, seed 9)" in means_text(
        [first, other_seed], ["simple_regret"]
    )
