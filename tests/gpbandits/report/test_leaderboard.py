"""The leaderboard: who enters, how losses become scores, and what the page shows."""

import dataclasses
import re
from itertools import product
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
from pages import whole
from scipy.stats import rankdata, wilcoxon
from study_cases import called
from synthetic import record
from synthetic import result as synthetic_result

from bandit_envs.data.runs import load_runs
from bandit_envs.problems.real import tasks
from gpbandits.commands.ranking import SuiteKind
from gpbandits.evaluation.statistics import mean_improvement
from gpbandits.report.board import over_tasks, ranks_figure, signed_ranks, write_board
from gpbandits.report.entrants import (
    CLASSES,
    JOINT,
    LEARNERS,
    REFERENCE,
    REFERENCES,
    SELECTED,
    SUITES,
    WHOLE,
    class_of,
    cut_notes,
    enter,
)
from gpbandits.report.page import across
from gpbandits.report.standings import NAMED, WIDEST, Standings, by_places, relative_losses
from gpbandits.report.stored import tables_in

RULE = re.compile(r"^\|[ |:-]+$", re.MULTILINE)  # below the heading of a table


def test_agents_enter_where_they_handle_the_features_and_the_reference_everywhere():
    ids = ["GPBandit-GP-v0", "GPBandit-Constrained-v0"]
    studies, excluded, _, _ = enter(2, 30, ids, ["gp-ucb", "gp-ucb-noisy-constraints"])
    entered = {study.environments[0].id: [agent.name for agent in study.agents] for study in studies}
    assert "gp-ucb" in entered["GPBandit-GP-v0"]
    assert entered["GPBandit-Constrained-v0"] == ["gp-ucb-noisy-constraints", REFERENCE]
    assert all(REFERENCE in names for names in entered.values())
    assert all(study.environments[0].kwargs == {"horizon": 30} for study in studies)
    assert excluded == [("gp-ucb on GPBandit-Constrained-v0", "it does not handle constraint")]


class Undeclared:
    """An agent that says nothing of what it handles, and of which some settings are too much."""

    def __init__(self, setting):
        if setting.has_contexts:
            raise ValueError("contexts are too much for me")


def test_an_agent_without_features_is_tried_everywhere():
    ids, path = ["GPBandit-Delayed-v0", "GPBandit-Contextual-v0"], f"{__name__}:Undeclared"
    studies, excluded, _, _ = enter(2, 30, ids, [path])
    assert [path in [agent.name for agent in study.agents] for study in studies] == [True, False]
    assert excluded == [(f"{path} on GPBandit-Contextual-v0", "contexts are too much for me")]


@pytest.mark.parametrize(
    ("env_id", "suite", "horizon", "rounds"),
    [
        (WHOLE, "ids", 30, 600),  # until all data have been seen
        ("GPBandit-Real/digits-late-v2", "real", None, 200),  # its own horizon
        ("GPBandit-GP-v0", "ids", None, 200),
    ],
)
def test_an_environment_is_played_for_its_rounds(env_id, suite, horizon, rounds):
    ((study,), *_) = enter(2, horizon, [env_id], ["random"], suite=suite)
    assert study.environments[0].kwargs == {"horizon": rounds}


def test_learners_enter_where_they_are_named_and_the_page_says_so():
    ((study,), ((who, why),), *_) = enter(2, 30, ["GPBandit-GP-v0"])
    assert not [agent for agent in study.agents if agent.name.startswith((LEARNERS, "optuna", "smac"))]
    assert who.startswith(LEARNERS)
    assert "--agent" in why
    ((study,), excluded, *_) = enter(2, 30, ["GPBandit-GP-v0"], ["sb3-ppo"])
    assert [agent.name for agent in study.agents] == [REFERENCE, "sb3-ppo"]
    assert excluded == []


def test_an_environment_that_cannot_be_made_is_excluded_with_the_reason_unless_it_was_named(monkeypatch):
    monkeypatch.setattr("gpbandits.report.entrants.IDS", ["GPBandit-None-v0"])
    studies, (_, (who, why)), *_ = enter(2, 30)
    assert studies == []
    assert who == "GPBandit-None-v0"
    assert "GPBandit-None" in why
    with pytest.raises(gym.error.Error, match="GPBandit-None"):
        enter(2, 30, ["GPBandit-None-v0"])


def test_real_tasks_are_ranked_by_family_and_those_that_are_not_here_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr("gpbandits.report.entrants.tasks", lambda: {name: tasks()[name] for name in chosen})
    monkeypatch.setattr(
        "bandit_envs.data.files.subprocess.run",
        lambda *args, **kwargs: SimpleNamespace(returncode=1, stderr=""),
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("GPBANDITS_DATA", raising=False)
    load_runs.cache_clear()
    chosen = ("digits-late", "digits-limit", "fullerenes")
    studies, excluded, classes, _ = enter(2, 30, agents=["gp-ucb", "config"], suite="real")
    assert classes == {"Real/digits-late": "late", "Real/digits-limit": "limit"}
    entered = {study.environments[0].id: [agent.name for agent in study.agents] for study in studies}
    assert entered["GPBandit-Real/digits-limit-v2"] == ["config", REFERENCE]
    reasons = dict(excluded)
    assert "save the wheel of olymp" in reasons["GPBandit-Real/fullerenes-v2"]


@pytest.mark.needs_packages("bocode")
def test_references_enter_every_real_task_also_where_they_lack_a_feature():
    env_id = "GPBandit-Real/lcbench-2-changes-v2"
    ((study,), excluded, *_) = enter(2, 30, [env_id], ["gp-ucb", "local-search"], suite="real")
    assert [agent.name for agent in study.agents] == ["local-search", REFERENCE]
    assert excluded == [(f"gp-ucb on {env_id}", "it does not handle change")]


@pytest.mark.needs_packages("bocode")
def test_no_data_set_of_a_changing_task_is_cut():
    ((study,), _, _, cuts) = enter(
        2, environments=["GPBandit-Real/lcbench-2-changes-v2"], agents=["random"], suite="real"
    )
    assert study.environments[0].kwargs == {"horizon": 240}
    assert cuts == {}


def test_the_command_offers_every_suite():
    assert tuple(SuiteKind) == SUITES


def test_an_unknown_suite_is_told_the_known_ones():
    with pytest.raises(ValueError, match='suite must be "ids" or "real"'):
        enter(2, 30, suite="rael")


def test_a_suite_of_real_tasks_refuses_other_environments():
    for other in ("GPBandit-GP-v0", "GPBandit-Real-v2", "GPBandit-Real/digits-lat-v2"):
        with pytest.raises(ValueError, match="ids such as GPBandit-Real/digits-repeat-v2 in the suite real"):
            enter(2, 30, ["GPBandit-Real/digits-late-v2", other], suite="real")


def test_losses_are_positive_regret_and_violation_relative_to_the_reference():
    res = synthetic_result(num_constraints=1)
    losses = relative_losses(res, "random")
    record, reference = res.records["GP-UCB"], res.records["random"]
    regret = np.maximum(record.regret, 0).sum(axis=1) / np.maximum(reference.regret, 0).sum(axis=1).mean()
    violation = record.violation.sum(axis=1) / reference.violation.sum(axis=1).mean()
    np.testing.assert_allclose(losses["GP-UCB"], (regret + violation) / 2)
    assert losses["random"].mean() == pytest.approx(1.0)


def standings(number, **shape):
    """As many environments, with trials of their own; two agents are alike but for chance."""
    whole = synthetic_result(num_trials=8, **shape)
    results = []
    for i in range(number):
        exponents = enumerate(zip(whole.agents, (0.5, 0.52, 1.0), strict=True))
        records = {
            label: record(num_trials=8, exponent=exponent, seed=10 * i + k, **shape)
            for k, (label, exponent) in exponents
        }
        results.append(dataclasses.replace(whole, environment=f"env {i}", records=records))
    return Standings(results, "random")


def test_standings_rank_score_and_mark():
    res = synthetic_result(privileged={"GP-UCB"}, num_trials=20)
    standings = Standings([res, dataclasses.replace(res, environment="again")], "random")
    assert standings.agents == ["GP-UCB", "GP-TS", "random"]
    assert [tuple(standings.ranks[label]) for label in standings.agents] == [(1, 1, 1), (2, 2, 2), (3, 3, 3)]
    grid = standings.overall()
    assert [row[0] for row in grid.rows] == ["GP-UCB†", "GP-TS", "random"]
    assert grid.header == ("agent", "rank", "at best", "at worst", "score", "GP, length-scale 0.2", "again")
    assert grid.notes[0].startswith("n = 20 trials")
    assert "privileged" in grid.notes[-1]
    scores = {row[0]: row[4:] for row in grid.rows}
    assert [float(each) for each in (scores["random"][0].estimate, *scores["random"][1:])] == pytest.approx(
        [0.0] * 3, abs=1e-12
    )
    assert scores["GP-UCB†"][0].estimate == pytest.approx(np.mean(scores["GP-UCB†"][1:]))


def test_agents_are_ranked_on_one_common_set_of_environments_and_others_are_named():
    """An agent that refuses the environment on which it is bad must not gain a place by that."""
    first = synthetic_result(num_trials=20)
    second = dataclasses.replace(first, environment="again")
    refusing = second.select(["GP-TS", "random"])
    both, standings = Standings([first, second], "random"), Standings([first, refusing], "random")
    assert both.agents == ["GP-UCB", "GP-TS", "random"]
    assert standings.agents == ["GP-TS", "random"]
    assert [tuple(standings.ranks[label]) for label in standings.agents] == [(1, 1, 1), (2, 2, 2)]
    assert "Not ranked, without results on again: GP-UCB." in standings.overall().notes


def test_many_environments_that_an_agent_lacks_are_a_number():
    few, many = ["a", "b"], [f"GPBandit-{number}-v0" for number in range(NAMED + 1)]
    assert by_places({"x": few, "y": many, "z": many}) == {
        "a, b": ["x"],
        f"{NAMED + 1} environments": ["y", "z"],
    }


def test_agents_that_play_the_same_in_every_environment_count_once():
    res = synthetic_result(num_trials=20, privileged={"twin"}, labels=("GP-UCB", "twin", "random"))
    twin = dataclasses.replace(res, records=res.records | {"twin": res.records["GP-UCB"]})
    standings = Standings([twin, dataclasses.replace(twin, environment="again")], "random")
    assert standings.agents == ["GP-UCB", "random"]
    assert [row[:2] for row in standings.overall().rows] == [("GP-UCB = twin†", 1), ("random", 2)]
    assert any("count as one" in note for note in standings.overall().notes)
    apart = Standings([twin, dataclasses.replace(res, environment="again")], "random")
    assert len(apart.agents) == 3


def test_every_environment_has_a_class_and_agents_are_named_in_one_list_a_class():
    ids = ("GP", "Delayed", "Contextual", "PiecewiseStationary", "Constrained", "Budget", "Composite")
    ids += ("Duel", "Clicks")
    classes = enter(6, 20, [f"GPBandit-{name}-v0" for name in ids], ["random"]).classes
    expected = ("plain", "delayed", "contextual", "changing", "constrained", "budgeted", "combined")
    expected += ("duels", "clicks")
    assert tuple(classes[name] for name in ids) == expected
    assert set(CLASSES.values()) < {*expected}
    tuned = gym.make("GPBandit-SVMTuning-v0")
    assert class_of(tuned.unwrapped.problem) == "real"


def test_the_suite_of_ids_leaves_real_tasks_to_their_own(monkeypatch):
    monkeypatch.setattr("gpbandits.report.entrants.IDS", ("GPBandit-GP-v0", "GPBandit-Real-v2"))
    assert set(enter(6, 20, [], ["random"]).classes) == {"GP"}


def test_violation_has_columns_of_its_own_relative_to_the_reference():
    free, bound = synthetic_result(), synthetic_result(num_constraints=2)
    bound = dataclasses.replace(bound, environment="bound")
    grid = Standings([free, bound], "random").overall()
    assert grid.header[-2:] == ("long-term violation", "hard violation")
    rows = {row[0]: row[-2:] for row in grid.rows}
    records = [bound.records[label] for label in ("GP-TS", "random")]
    hard = [record.violation.sum(axis=1).mean() for record in records]
    summed = [np.maximum(record.cost.sum(axis=1), 0.0) for record in records]
    long_term = [np.sqrt(np.square(each).sum(axis=-1)).mean() for each in summed]
    assert rows["GP-TS"] == pytest.approx((long_term[0] / long_term[1], hard[0] / hard[1]))
    assert Standings([free], "random").overall().header[-1] == "score"


def test_an_environment_that_separates_nobody_weighs_like_any_other():
    """To leave it out by its outcome would leave out those on which an agent does badly."""
    res = synthetic_result(num_trials=20)
    alike = dataclasses.replace(
        res, environment="alike", records=dict.fromkeys(res.agents, res.records["random"])
    )
    (section,) = across([res, alike], dict.fromkeys(res.agents, 0), "random")
    assert "alike" in section.standings.overall().header
    whole, own = section.standings.overall_scores, Standings([res], "random").overall_scores
    assert whole["GP-UCB"].estimate == pytest.approx(own["GP-UCB"].estimate / 2)


def test_what_the_option_horizon_cuts_is_said_beside_the_result(tmp_path):
    entries = enter(6, 90, ["GPBandit-Real/growing-datasets-v2", "GPBandit-GP-v0"], ["gp-ucb"])
    assert entries.cuts["Real/growing-datasets"] == "90 of 600 rounds, 3 of 20 data sets"
    assert entries.cuts["GP"].startswith("90 of ")
    notes = cut_notes(["GP", "whole"], entries.cuts)
    assert notes == [f"Cut by --horizon: GP ({entries.cuts['GP']})."]
    assert cut_notes(["whole"], entries.cuts) == []
    page = write_board({"plain": Standings([synthetic_result()], "random", notes)}, tmp_path, "a command")
    assert notes[0] in page.read_text(encoding="utf-8")


def test_improvement_across_environments_weighs_them_alike_and_counts_ties_half():
    first = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 2.0, 2.0, 9.0]))  # win, tie, loss, win
    second = (np.array([1.0]), np.array([0.0]))  # loss
    share = mean_improvement([first, second])
    assert share.estimate == pytest.approx((2.5 / 4 + 0) / 2)
    assert 0 <= share.low < share.estimate < share.high <= 0.5  # nothing but the first has a spread
    with pytest.raises(ValueError, match="pairs need equal shapes"):
        mean_improvement([(np.zeros(2), np.zeros(3))])


def test_the_figure_has_a_row_an_agent():
    standings = Standings([synthetic_result(privileged={"GP-UCB"})], "random")
    ranks, profiles = ranks_figure(standings), standings.profile("GP-TS").estimate
    assert [tick.get_text() for tick in ranks.axes[0].get_yticklabels()] == ["GP-UCB†", "GP-TS", "random"]
    np.testing.assert_allclose(ranks.axes[2].images[0].get_array()[1], profiles)


def test_labels_of_neighbouring_axes_do_not_touch():
    standings = Standings([synthetic_result()], "random")
    figure = ranks_figure(standings)
    ranks, scores, profiles = figure.axes[:3]
    for axes in (ranks, scores):  # one ends with a label and the other begins with one, as with eight agents
        axes.set_xticks([axes.get_xlim()[1]], ["1.00"])
    for axes in (scores, profiles):
        axes.set_xticks([*axes.get_xticks()[-1:], axes.get_xlim()[0]], ["1.00", "-0.50"])
    figure.draw_without_rendering()
    for left, right in ((ranks, scores), (scores, profiles)):
        ends = max(label.get_window_extent().x1 for label in left.get_xticklabels())
        begins = min(label.get_window_extent().x0 for label in right.get_xticklabels())
        assert begins - ends > 12.0  # pixels, of 100 an inch


def test_results_without_the_reference_are_refused():
    with pytest.raises(ValueError, match="has no result on"):
        Standings([synthetic_result()], "nobody")
    with pytest.raises(ValueError, match="at least one environment"):
        Standings([], "random")


@pytest.mark.long
def test_the_command_writes_page_figure_and_tables(tmp_path, capsys):
    command = ["leaderboard", "--out", str(tmp_path / "docs"), "--store", str(tmp_path / "store")]
    chosen = "--env GPBandit-GP-v0 --env GPBandit-Constrained-v0 --agent gp-ucb"
    quick = "--agent gp-ucb-noisy-constraints --trials 12 --horizon 40 --workers 1 --time-limit 600"
    code, _, err = called(capsys, *command, *chosen.split(), *quick.split())
    assert code == 0, err
    page = (tmp_path / "docs" / "leaderboard.md").read_text()
    assert "## Constrained" in page
    assert "## Plain" in page
    assert page.count("t-tests with Holm's correction") == 1
    assert "| gp-ucb | " in page
    assert "gpbandits leaderboard --trials 12 --horizon 40 --seed 0 --time-limit 600" in page
    for name in ("leaderboard-plain.png", "leaderboard-constrained.png"):
        assert f"(figures/{name})" in page
        assert (tmp_path / "docs" / "figures" / name).read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "docs" / "tables" / "leaderboard-plain.csv").read_text().count("\n") >= 3


def test_who_is_left_out_for_the_same_reason_shares_a_line(tmp_path):
    excluded = [(f"{name} on {env}", f"agent '{name}': too slow") for env in "CD" for name in "ab"]
    standings = Standings([synthetic_result()], "random")
    page = write_board({"plain": standings}, tmp_path, "a command", [("sb3-*", "they take long"), *excluded])
    *_, lines = page.read_text(encoding="utf-8").partition("## Not taking part\n")
    assert lines.split("\n") == ["", "- sb3-*: they take long", "- a, b on C, D: too slow", ""]


def test_where_there_are_many_environments_each_has_a_line(tmp_path):
    res = synthetic_result(num_trials=20)
    many = [dataclasses.replace(res, environment=f"env {i}") for i in range(WIDEST + 1)]
    standings, narrow = Standings(many, "random"), Standings(many[:WIDEST], "random")
    assert standings.wide
    assert not narrow.wide
    assert narrow.overall().header[5:] == tuple(each.environment for each in many[:WIDEST])
    assert standings.overall().header == ("agent", "rank", "at best", "at worst", "score")
    grid = standings.by_environment()
    assert grid.header == ("environment", *standings.agents)
    assert [row[0] for row in grid.rows] == [each.environment for each in many]
    assert grid.rows[3][1] == pytest.approx(standings.of(standings.agents[0])[3].mean())
    page = write_board({"plain": standings}, tmp_path, "a command").read_text(encoding="utf-8")
    assert "\n| env 3 | " in page
    assert (tmp_path / "tables" / "leaderboard-plain-each.csv").exists()


def test_a_page_states_once_what_its_tables_share_and_includes_their_files_where_it_is_for_a_site(tmp_path):
    res = synthetic_result(num_trials=20)
    many = [dataclasses.replace(res, environment=f"env {i}") for i in range(WIDEST + 1)]
    classes = {"few": Standings(many[:2], "random"), "many": Standings(many, "random")}
    page = write_board(classes, tmp_path / "whole", "a command").read_text(encoding="utf-8")
    assert [page.count(said) for said in ("The simple score is", "The mean rank is over")] == [1, 2]
    place = write_board(classes, tmp_path / "site", "a command", site=True)
    assert RULE.sub("", whole(place)) == RULE.sub("", page)
    assert place.read_text(encoding="utf-8").count(":rounded:\n") == len(tables_in(page)) == 5


def test_agents_enter_real_tasks_for_what_these_have_and_joint_samples_up_to_a_number_of_arms(monkeypatch):
    def entered():
        names = ("digits-late", "digits-limit", "digits-budget")
        studies, excluded, _, _ = enter(2, 30, [f"GPBandit-Real/{name}-v2" for name in names], suite="real")
        return [{agent.name for agent in study.agents} for study in studies], excluded

    (late, limit, budget), excluded = entered()
    assert late == {*SELECTED[""], *SELECTED["delay"], REFERENCE}
    assert limit == {"gp-agent", *SELECTED["constraint"], *REFERENCES, REFERENCE}
    assert budget == {*SELECTED[""], *SELECTED["budget"], REFERENCE}
    assert excluded == []
    monkeypatch.setattr("gpbandits.report.entrants.MOST", 239)
    (short, same, _), excluded = entered()
    assert late - short == {*JOINT}
    assert same == limit
    assert len(excluded) == 3  # both are late, one has a budget


def cells(grid):
    return {row[0]: dict(zip(grid.header[1:], row[1:], strict=True)) for row in grid.rows}


def test_a_rank_over_tasks_is_the_mean_of_the_ranks_of_mean_scores():
    own = standings(7)
    means = {label: np.array([each.mean() for each in own.of(label)]) for label in own.agents}
    found = cells(over_tasks(own))
    for label in own.agents:
        rank = [1 + sum(other[i] > means[label][i] for other in means.values()) for i in range(7)]
        assert found[label]["mean rank"] == pytest.approx(np.mean(rank))
    first, second, last = over_tasks(own).rows
    assert first[1] <= second[1] <= last[1]
    assert first[2] is None
    plain = wilcoxon(means[first[0]] - means[last[0]]).pvalue
    assert plain <= last[2] <= 2 * plain + 1e-12  # Holm's correction of two tests


def test_tasks_of_one_function_count_once():
    own = standings(8)
    alone = over_tasks(own, {"env 0": "digits", "env 1": "digits", "env 2": "digits"})
    assert "p" in alone.header
    assert "mean rank is over 6 tasks" in alone.notes[0]
    assert "p" not in over_tasks(own, dict.fromkeys(["env 0", "env 1", "env 2", "env 3"], "x")).header


def test_the_simple_score_the_unsafe_plays_and_the_time_are_those_of_the_results():
    own = standings(3, num_constraints=1)
    found = cells(over_tasks(own))
    for label in own.agents:
        each = found[label]
        simple = [
            1 - r.simple_regret[label][:, -1].mean() / r.simple_regret["random"][:, -1].mean()
            for r in own.results
        ]
        assert each["simple score"] == pytest.approx(np.mean(simple))
        unsafe = [(r.unsafe_plays[label][:, -1] / r.horizon).mean() for r in own.results]
        assert each["unsafe plays"] == pytest.approx(np.mean(unsafe))
        seconds = [r.seconds_per_decision[label].mean() for r in own.results]
        assert each["ms a round"] == pytest.approx(1e3 * np.mean(seconds))
    assert found["random"]["simple score"] == pytest.approx(0.0)
    assert "unsafe plays" not in over_tasks(standings(3)).header


def by_all_signs(differences: np.ndarray) -> float:
    """The share of all sign patterns whose sum of signed ranks is as far from its mean."""
    ranks = rankdata(np.abs(differences))
    own = abs(float(np.sign(differences) @ ranks))
    sums = [abs(float(np.dot(signs, ranks))) for signs in product((-1.0, 1.0), repeat=len(ranks))]
    return float(np.mean([each >= own - 1e-9 for each in sums]))


@pytest.mark.parametrize("shift", [0.0, 0.5, -2.0])
def test_one_sequence_has_the_exact_p_value_whatever_its_sign(shift):
    gaps = np.random.default_rng(3).normal(shift, 1.0, 9)
    assert signed_ranks([gaps]) == pytest.approx([by_all_signs(gaps)])
    assert signed_ranks([-gaps]) == pytest.approx(signed_ranks([gaps]))


def test_several_are_corrected_and_equal_ones_never_differ():
    rng = np.random.default_rng(4)
    first, second = rng.normal(1.0, 1.0, 8), rng.normal(0.2, 1.0, 10)
    least, most = sorted([by_all_signs(first), by_all_signs(second)])
    found = signed_ranks([first, second, np.full(7, 1e-12)])
    assert found[2] == 1.0
    assert sorted(found[:2]) == pytest.approx([3.0 * least, min(1.0, max(3.0 * least, 2.0 * most))])
