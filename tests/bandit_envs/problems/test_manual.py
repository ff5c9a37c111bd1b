"""What is said of an environment and of its keywords comes from the docstrings, in Gymnasium's headings."""

import pytest

from bandit_envs.problems import (
    DESCRIPTION,
    END,
    FACTORIES,
    LONGEST,
    STARTING,
    example,
    keywords_of,
    meanings,
    sections,
)


@pytest.mark.parametrize("problem", FACTORIES)
def test_every_keyword_has_a_line_of_its_own(problem):
    said = meanings(problem)
    assert list(said) == keywords_of(problem)
    assert [keyword for keyword, line in said.items() if not line] == []
    assert all("\n" not in line for line in said.values())
    assert all(line.count("(") == line.count(")") for line in said.values())  # cut inside no parentheses


@pytest.mark.parametrize("problem", FACTORIES)
def test_every_problem_has_all_headings_and_no_label_is_left_in_its_description(problem):
    found = sections(problem)
    assert next(iter(found)) == DESCRIPTION
    assert {"Action Space", "Observation Space", "Rewards", "Regret", STARTING, END} < found.keys()
    assert all(found.values())
    assert not any(f"{label}: " in found[DESCRIPTION] for label in ("Action", "Observation", "Keywords"))


def test_what_a_problem_says_itself_comes_before_what_all_share():
    assert meanings("intel-temperature")["continuous"].startswith("must be False")
    assert meanings("gp")["continuous"].startswith("play the whole box")
    assert sections("intel-temperature")["Action Space"] == "`Discrete(50)`, a sensor."
    assert example("intel-temperature").startswith(">>> env = gym.make(")


def test_a_law_is_said_in_words_with_the_names_of_laws_last():
    line = meanings("gp")["corruption"]
    assert line.startswith("an attack changes rewards")
    assert line.endswith('laws: "near-optimal" | "random" | "start"')
    assert len(meanings("gp")["signal_variance"]) <= LONGEST
