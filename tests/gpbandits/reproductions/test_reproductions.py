"""Figures of the papers from one command: definitions, the quick rule, verdicts and the page."""

from __future__ import annotations

import dataclasses
import re
import tomllib

import numpy as np
import pytest
from study_cases import called
from synthetic import result as synthetic_result

from gpbandits.evaluation.record import ragged
from gpbandits.evaluation.result import Record, Result
from gpbandits.evaluation.statistics import Interval, holm, paired_difference, sign_flip_test
from gpbandits.experiments import AgentEntry, EnvironmentEntry, Store, Study, load_study, run
from gpbandits.experiments.toml import parse_study, study_text
from gpbandits.report.stored import read_cells
from gpbandits.reproductions import REPRODUCTIONS, StudyFigure, study_path
from gpbandits.reproductions.page import Condensed, kept, page_text, parts_of, write_page
from gpbandits.reproductions.srinivas2010 import KERNELS, POINTS, draws, gain_bound, spectrum
from gpbandits.reproductions.study_figure import BOXES, MEDIAN, Part, box_figure, shortened
from gpbandits.reproductions.verdicts import (
    DIFFERS,
    FEW,
    HOLDS,
    LEVEL,
    MISSING,
    OPEN,
    REVERSED,
    UNTESTED,
    Across,
    Claim,
    Paired,
    Row,
    Statement,
    corrected,
    of_bar,
    of_likeness,
    of_order,
    together,
)  # fmt: skip

WANTED = {
    "srinivas2010": ("3", "4", "5a", "5b"),
    "chowdhury2017": ("1", "2", "3", "4"),
    "verma2022": tuple("12345"),
    "shi2022": tuple("123456789"),
    "avanesov2020": tuple("123"),
}
GP = EnvironmentEntry("GPBandit-GP-v0", "GP", {"horizon": 20, "num_arms": 20})
OF_STUDIES = [each for each in REPRODUCTIONS.values() if isinstance(each, StudyFigure)]


def test_every_figure_has_a_reproduction_that_says_why_we_differ():
    names = {f"{paper}-figure-{figure}" for paper, figures in WANTED.items() for figure in figures}
    assert names <= REPRODUCTIONS.keys()
    for name, each in REPRODUCTIONS.items():
        assert each.name == name
        assert each.differs.endswith(".")


@pytest.mark.parametrize("figure", OF_STUDIES, ids=lambda figure: figure.name)
def test_a_figure_selects_environments_and_its_claims_name_agents_of_its_studies(figure):
    studies = [figure.part(study) for study in figure.load()]
    labels = {agent.label for study in studies for agent in study.agents}
    beginnings = tuple(entry.label for study in studies for entry in study.environments)
    for statement in figure.statements:
        assert statement.says.endswith(".")
        assert statement.checks or statement.reading.endswith("."), "untested without a reason"
        for check in statement.checks:
            named = {check.less, check.more} if isinstance(check, Claim) else {check.label}
            assert named <= labels
            if isinstance(check, Across):
                assert {check.less, check.more} <= set(beginnings)
                assert not check.other or check.other in labels
            if isinstance(check, Claim):
                assert any(each.startswith(check.environment) for each in beginnings)


def test_quick_takes_five_trials_of_at_most_1000_rounds():
    long, short = (EnvironmentEntry(GP.id, str(t), {"horizon": t, "num_arms": 20}) for t in (5000, 20))
    study = Study(
        "s", 30, (long, short, EnvironmentEntry("GPBandit-GP-v0", "default")), (AgentEntry("a", "a"),)
    )
    quick = shortened(study)
    assert (quick.name, quick.trials, quick.agents) == ("s-quick", 5, study.agents)
    assert [entry.kwargs for entry in quick.environments] == [
        {"horizon": 1000, "num_arms": 20},
        {"horizon": 20, "num_arms": 20},
        {"horizon": 1000},
    ]
    assert shortened(quick).trials == 5


def result(**final: list[float]) -> Result:
    """Agents with these regrets in a single round, trial by trial."""
    records = {}
    for label, values in final.items():
        column = np.array(values)[:, None]
        nothing = np.empty((*column.shape, 0))
        none = ragged([None] * len(values))
        records[label] = Record(
            column, column, nothing, column, nothing, column, column[:, 0], none, none, none
        )
    return Result("E", 0, records)


def verdict(row: Row) -> str:
    """Of a test that is its figure's only one."""
    (judged,) = corrected([row])
    return judged.verdict


def test_a_claim_is_judged_by_the_paired_test_alone():
    spread = [1.0, 5.0, 9.0, 2.0, 7.0, 4.0]
    better = result(a=spread, b=[value + 1 + 0.1 * i for i, value in enumerate(spread)])
    row = Claim("a", "b").row(better)
    assert row.measured.startswith("+1.25 ")
    assert row.paired == (pytest.approx(1.25), 2 / 2**6, 6, False)
    assert verdict(row) == HOLDS
    same = Claim("a", "a", equal=True).row(better)
    assert corrected([same])[0][:4] == ("E", "a = a (regret)", "+0 [+0, +0]", HOLDS)
    assert not Claim("a", "absent").applies_to(better)
    assert not Claim("a", "b", environment="F").applies_to(better)
    intervals = [Interval(*map(np.asarray, ends)) for ends in ((2, 1, 3), (-2, -3, -1), (0, -1, 1))]
    assert [of_bar(each, 0.0, True, 20) for each in intervals] == [HOLDS, REVERSED, OPEN]
    assert [of_likeness(sign, 20) for sign in (1, -1, 0)] == [DIFFERS, DIFFERS, HOLDS]


def test_three_stuck_trials_are_no_significant_difference_though_the_interval_lies_above_zero():
    usual, stuck = np.sin(np.arange(20.0)), np.where(np.arange(20) < 3, 100.0, 0.0)
    outcome = result(a=list(usual), b=list(-usual + stuck))
    more, less = (outcome.regret[label][:, -1] for label in "ba")
    assert paired_difference(more, less).low > 0
    assert verdict(Claim("a", "b").row(outcome)) == OPEN
    assert verdict(Claim("b", "a").row(outcome)) == OPEN
    assert verdict(Claim("a", "b", equal=True).row(outcome)) == HOLDS


def claims_of(figure: StudyFigure) -> set[str]:
    return {repr(check) for statement in figure.statements for check in statement.checks}


@pytest.mark.parametrize("figure", OF_STUDIES, ids=lambda figure: figure.name)
def test_no_other_figure_makes_the_same_test_on_the_same_trials(figure):
    checks = claims_of(figure)
    for other in OF_STUDIES:
        shared = set(figure.studies) & set(other.studies)
        if other is not figure and shared and set(figure.environments) & set(other.environments):
            assert not checks & claims_of(other)


def test_the_tests_of_all_sentences_of_a_figure_are_corrected_together():
    rng = np.random.default_rng(0)
    values = {label: list(rng.normal(0.6 * i, 1.0, 20)) for i, label in enumerate("abc")}
    outcome = result(**values)
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    said = tuple(Statement("So it is.", (Claim(*pair),)) for pair in pairs)
    again = Statement("It is, backwards.", (Claim("b", "a"),))  # the first test once more
    figure = StudyFigure("f", "P", "Figure 1: f", "It differs.", (*said, again), ("s",))
    expected = holm([sign_flip_test(np.array(values[a]), np.array(values[b])) for a, b in pairs])
    found = [row.p_value for each in figure.judged([(GP, outcome)]) for row in each.rows]
    assert found == [f"{p:.2g}" for p in (*expected, expected[0])]


def test_a_difference_that_is_significant_alone_need_not_be_among_many():
    rows = [Row("E", str(i), "", paired=Paired(1.0 + i, 0.6 * LEVEL, 20, False)) for i in range(2)]
    assert verdict(rows[0]) == HOLDS
    assert [row.verdict for row in corrected(rows)] == [OPEN, OPEN]
    unknown = rows[0]._replace(paired=Paired(float("nan"), float("nan"), 20, True))
    assert verdict(unknown) == OPEN


def test_a_claim_across_environments_is_judged_by_the_trials_they_share():
    spread = list(np.arange(20.0) % 7)
    near, far = result(a=spread), result(a=[value + 1 + 0.01 * i for i, value in enumerate(spread)])
    both = [dataclasses.replace(each, environment=name) for name, each in (("near", near), ("far", far))]
    assert [verdict(row) for row in Across("a", "near", "far").rows(both)] == [HOLDS]
    assert [verdict(row) for row in Across("a", "far", "near").rows(both)] == [REVERSED]
    assert Across("b", "near", "far").rows(both) == Across("a", "near", "other").rows(both) == []
    far = result(c=[value + 1 + 0.01 * i for i, value in enumerate(spread)])
    both[1] = dataclasses.replace(far, environment="far")
    (row,) = Across("a", "near", "far", other="c").rows(both)
    assert (row.problem, verdict(row)) == ("a < c", HOLDS)
    assert Across("c", "near", "far", other="a").rows(both) == Across("a", "near", "far").rows(both) == []


def test_a_significant_difference_is_named_on_few_trials_too():
    assert [of_likeness(1, trials) for trials in (19, 20)] == [FEW, DIFFERS]
    assert [of_likeness(0, trials) for trials in (19, 20)] == [HOLDS, HOLDS]
    assert of_order(0, 19) == OPEN
    assert together([FEW, HOLDS]) == "holds in 1, significantly different on few trials in 1 of 2"


def test_nothing_is_called_reversed_on_less_than_twenty_trials():
    for trials, expected in ((19, FEW), (20, REVERSED)):
        outcome = result(a=list(np.arange(trials) / trials), b=list(1 + np.arange(trials) / trials))
        assert verdict(Claim("b", "a").row(outcome)) == expected
        assert verdict(Claim("a", "b").row(outcome)) == HOLDS


def test_the_verdict_on_a_sentence_counts_those_of_its_tests():
    assert together([HOLDS, HOLDS]) == HOLDS
    assert together([OPEN, HOLDS, REVERSED, HOLDS]) == (
        "holds in 2, no significant difference in 1, **reversed** in 1 of 4"
    )
    assert Statement("So it is.", reading="Silent.").judged([]).verdict == UNTESTED
    assert Statement("So it is.", (Claim("a", "b"),)).judged([]).verdict == MISSING


def test_spectra_have_equal_trace_and_the_order_of_the_figure():
    spectra = {label: spectrum(kernel) for label, kernel in KERNELS.items()}
    for values in spectra.values():
        assert values.sum() == pytest.approx(POINTS)
    final = {label: gain_bound(values, np.arange(1, 101))[-1] for label, values in spectra.items()}
    assert sorted(final, key=lambda label: -final[label]) == [
        "independent", "Matern 5/2", "squared exponential", "linear",
    ]  # fmt: skip


def test_the_bound_is_that_of_the_best_allocation_by_brute_force():
    values, noise = np.array([3.0, 1.5, 0.2]), 0.5
    for rounds in (1, 2, 5):
        allocations = [(i, j, rounds - i - j) for i in range(rounds + 1) for j in range(rounds + 1 - i)]
        best = max(np.log1p(np.array(m) * values / noise).sum() / 2 for m in allocations)
        bound = gain_bound(values, np.arange(1, rounds + 1), noise)[-1]
        assert bound == pytest.approx(best / (1 - np.exp(-1)), rel=1e-12)


def test_draws_have_the_covariance_of_their_kernel():
    kernel = KERNELS["squared exponential"]
    values = draws(kernel, 20_000)[:, ::40]
    expected = kernel(np.linspace(0.0, 1.0, POINTS)[::40, None])
    np.testing.assert_allclose(np.cov(values, rowvar=False), expected, atol=0.04)  # four standard errors


@pytest.fixture
def small(monkeypatch) -> StudyFigure:
    """A figure of a study that takes no time, under a name of its own."""
    study = Study("small", 4, (GP,), (AgentEntry("gp-ucb", "GP-UCB"), AgentEntry("random", "random")))
    monkeypatch.setattr(StudyFigure, "load", lambda self: [study])
    figure = StudyFigure(
        name="small-figure-1", paper="Small (2020)", title="Figure 1: small", differs="It is not theirs.",
        studies=("small",), statements=(Statement("It is small.", (Claim("GP-UCB", "random"),), "Ours."),),
    )  # fmt: skip
    monkeypatch.setitem(REPRODUCTIONS, figure.name, figure)
    return figure


@pytest.fixture
def call(capsys):
    """Run a command, which succeeds, and return what it prints."""

    def run(*arguments):
        code, out, errors = called(capsys, *arguments)
        assert code == 0, errors
        return out

    return run


@pytest.mark.long
def test_reproduce_computes_draws_and_judges(small, tmp_path, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # rows are not wrapped
    printed = call("reproduce", small.name, "--workers", "1", "--out", tmp_path)
    assert "It is small." in printed
    assert "GP-UCB < random" in printed
    assert "test (regret)" in printed
    assert (tmp_path / "figures" / "small-figure-1-regret.png").stat().st_size > 10_000
    assert len(list((tmp_path / "small" / "cells").glob("*.parquet"))) == 2


@pytest.mark.long
@pytest.mark.parametrize("quick", [False, True])
def test_status_report_and_clean_know_the_whole_study_of_a_figure(small, tmp_path, call, monkeypatch, quick):
    figure = dataclasses.replace(small, agents=("GP-UCB",), statements=())
    monkeypatch.setitem(REPRODUCTIONS, small.name, figure)
    (study,) = map(shortened, small.load()) if quick else small.load()
    folder = tmp_path / study.name
    call("reproduce", small.name, "--workers", "1", "--out", tmp_path, *["--quick"] * quick)
    assert load_study(folder / "study.toml") == study
    printed = call("status", folder)
    assert "4 trials done, 0 failed, 4 missing." in printed
    assert re.search("small-figure-1 +4 of 4", printed)
    assert "Nothing to move" in call("clean", folder)
    call("report", folder, "--no-figures")
    assert "1 of its cells is not computed" in (folder / "report.html").read_text()


def verdicts_beside(page):
    """What the page's first table says of the one figure."""
    assert ":file: results/reproductions.csv" in page.read_text()
    _, (figure, verdicts) = read_cells(page.parent / "results" / "reproductions.csv")
    assert figure == "Small (2020), [Figure 1](#figure-1-small)"
    return verdicts


def test_the_page_of_short_versions_judges_nothing(small, tmp_path):
    (study,) = map(shortened, small.load())
    run(study, Store(tmp_path / study.name / "cells"), 1)
    write_page(tmp_path / "page.md", [small], tmp_path, quick=True)
    assert verdicts_beside(tmp_path / "page.md") == "1: not judged on so few trials"


def test_figures_of_one_study_are_parts_of_it():
    study = load_study(study_path("chowdhury2017-figures-1-2"))
    sizes = {name: len(part.environments) for name, part in parts_of(study).items()}
    assert sizes == {"chowdhury2017-figure-1": 4, "chowdhury2017-figure-2": 2}
    assert parts_of(dataclasses.replace(study, environments=(GP,))) == {}  # somebody's own of the same name


@pytest.mark.parametrize("path", sorted(study_path("any").parent.glob("*.toml")), ids=lambda path: path.stem)
def test_a_study_is_the_same_when_it_is_written_and_read(path):
    study = load_study(path)
    assert parse_study(tomllib.loads(study_text(study))) == study


def test_odd_text_numbers_and_keys_survive_writing_and_none_is_refused():
    odd = {"a b": [1.5, float("inf"), 1e-9, True], "c": {"d\x7f": 'é "\\ \n 😀'}, "e": []}
    study = Study("s", 1, (dataclasses.replace(GP, kwargs=odd),), (AgentEntry("random", "random"),))
    assert parse_study(tomllib.loads(study_text(study))) == study
    with pytest.raises(ValueError, match="got None"):
        study_text(
            dataclasses.replace(study, environments=(dataclasses.replace(GP, kwargs={"delay": None}),))
        )


def test_box_plots_show_the_quartiles_of_the_trials_over_time_an_agent_a_panel():
    outcome = synthetic_result(num_trials=9, horizon=60)
    figure = box_figure(outcome, "average_regret")
    assert [panel.get_title() for panel in figure.axes] == outcome.agents
    (edges,) = {panel.get_ylim() for panel in figure.axes}
    values = outcome.average_regret["GP-TS"]
    medians = [line for line in figure.axes[1].lines if line.get_color() == MEDIAN]
    at = [round(float(np.mean(line.get_xdata()))) for line in medians]
    assert len(medians) == BOXES
    assert at[-1] == 60
    shown = values[:, np.array(at) - 1]
    np.testing.assert_allclose([line.get_ydata()[0] for line in medians], np.median(shown, axis=0))
    assert edges[0] <= shown.min() <= shown.max() <= edges[1]


def test_the_page_shows_what_is_kept_and_computes_nothing(small, tmp_path, monkeypatch):
    page = tmp_path / "docs" / "reproductions.md"
    page.parent.mkdir()
    write_page(page, [small], tmp_path, quick=False)
    assert "Not computed" in page.read_text()
    (study,) = small.load()
    run(study, Store(tmp_path / "small" / "cells"), 1)
    write_page(page, [small], tmp_path, quick=False)
    text = page.read_text()
    tests, numbers = (
        read_cells(page.parent / "results" / small.name / f"{x}.csv") for x in ("tests", "numbers")
    )
    ((_, outcome),) = kept(Part(small.name, study, study), tmp_path / "small")
    assert f"{outcome.regret['random'][:, -1].mean():.3g}" in numbers[-1][1]
    assert " n.s. (p = " in tests[1][-1]  # four trials decide nothing
    for part in (
        "## Small (2020)",
        "### Figure 1: small",
        "It is small.",
        "It is not theirs.",
        f":file: results/{small.name}/tests.csv",
        f"[CSV](results/{small.name}/numbers.csv)",
    ):
        assert part in text
    assert (page.parent / "figures" / "reproductions" / "small-figure-1-regret.png").exists()
    assert verdicts_beside(page) == "1: n.s."
    assert f"- **1** It is small. *{OPEN.capitalize()}.* Ours." in text


@pytest.mark.long
def test_the_page_can_be_made_again_from_the_numbers_that_are_kept_beside_it(small, tmp_path):
    (study,) = small.load()
    early = dataclasses.replace(
        small, statements=(Statement("So it is.", (Claim("GP-UCB", "random", at=7),)), *small.statements)
    )
    run(study, Store(tmp_path / "small" / "cells"), 1)
    write_page(tmp_path / "page.md", [early], tmp_path, quick=False)
    findings = early.run(tmp_path / "nowhere", False, Condensed(tmp_path / "results"))
    assert page_text([(early, findings)], quick=False) == (tmp_path / "page.md").read_text()
    assert "at t = 7" in findings.claims


def test_the_page_does_not_show_what_other_code_computed(small, tmp_path, monkeypatch):
    (study,) = small.load()
    run(study, Store(tmp_path / "small" / "cells"), 1)
    monkeypatch.setattr("gpbandits.experiments.study.sources", lambda environment, agent: {"agents": "newer"})
    write_page(tmp_path / "page.md", [small], tmp_path, quick=False)
    assert verdicts_beside(tmp_path / "page.md") == "1: not computed"
