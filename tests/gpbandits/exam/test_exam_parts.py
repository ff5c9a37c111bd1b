"""Parts of the exam: entrants whose results are known get them, whatever the part."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from exam_cases import PLAYED, TABLES, cases, oracle
from scipy.special import comb

from bandit_envs.data.runs import load_runs
from bandit_envs.data.tables import load_hpob
from bandit_envs.problems.real import tasks
from gpbandits.exam import PARTS, Sitting
from gpbandits.exam.boxes import PUBLISHED, TASKS
from gpbandits.exam.entrants import Entrant
from gpbandits.exam.part import STATISTICS
from gpbandits.exam.tables import BEST, STRUCTURES
from gpbandits.report import entrants
from gpbandits.report.entrants import REFERENCE

RANDOM = Entrant.named("random")
MINIMA = {
    "branin": (np.pi, 2.275),
    "branin-5": (np.pi, 2.275),
    "hartmann-6": (0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573),
    "gardner": (1.5 * np.pi, 0.0),
    "hartmann-3": (0.114589, 0.555649, 0.852547),
    "ackley-4": (1 / 3,) * 4,
    "levy-5": (1.0,) * 5,
    "rosenbrock-4": (1.0,) * 4,
    "shekel-4": (4.000747, 3.999509, 4.000747, 3.999509),
}


@pytest.mark.parametrize("part", PLAYED.values(), ids=PLAYED)
def test_a_part_compares_at_questions_that_it_keeps(part):
    assert list(part.kept) == sorted(set(part.kept))
    assert set(part.quick_tasks) <= set(part.tasks)
    assert part.source
    assert part.milestones
    for at in part.milestones:
        assert at.statistic in STATISTICS
        tasks = part.tasks_of(at, part.tasks)
        assert tasks
        assert all(at.question in part.kept_until(part.questions(task)) for task in tasks)
        assert all(value.value >= 0 for value in part.published(at, tasks).values())
        assert part.published(at, []) == {}
    assert any(part.published(at, part.tasks) for at in part.milestones)


@pytest.mark.parametrize("part", cases(PLAYED))
def test_random_play_is_repeatable_monotone_and_the_same_when_it_is_cut(part):
    for task in part.quick_tasks:
        whole = part.questions(task)
        played = part.play(task, RANDOM, 0, whole)
        assert len(played) == len(part.kept_until(whole))
        assert np.array_equal(played, part.play(task, RANDOM, 0, whole))
        assert not np.array_equal(played, part.play(task, RANDOM, 1, whole))
        assert (part.better * np.diff(played) >= 0).all()
        cut = part.play(task, RANDOM, 0, part.kept[5])
        assert np.array_equal(cut, played[: len(cut)])


@pytest.mark.parametrize("part", cases(TABLES))
def test_all_entrants_meet_the_same_first_points(part):
    task, few = TABLES[part.name], max(part.kept[0], 1)
    tuner, random = (part.play(task, Entrant.named(name), 3, few) for name in ("tuner", "random"))
    assert tuner[0] == random[0]


@pytest.mark.needs_packages("bocode")
def test_an_oracle_has_no_regret_on_hpo_b_from_the_first_question_on():
    values = load_hpob(TABLES["hpo-b"]).normalised
    played = PLAYED["hpo-b"].play(TABLES["hpo-b"], oracle(values=tuple(values)), 0, 5)
    assert played[0] > 0
    assert not played[1:].any()


@pytest.mark.needs_packages("bocode")
def test_an_oracle_finds_one_of_the_best_with_each_question_on_crossed_barrel():
    part, task = PLAYED["crossed-barrel"], TABLES["crossed-barrel"]
    values = load_runs("materials/Crossed barrel").mean("value")
    assert len(values) == 600
    found = part.play(task, oracle(values=tuple(values)), 0, part.kept[-1])
    assert np.array_equal(found, np.minimum(found[0] + np.arange(len(found)), BEST))


@pytest.mark.parametrize("task", TASKS)
def test_an_oracle_has_no_regret_on_boxes(task):
    part = PLAYED["boxes"]
    assert set(MINIMA) == set(TASKS)
    played = part.play(task, oracle(point=MINIMA[task]), 0, 1)
    assert -1e-9 <= played[0] <= 1e-4  # the places are known to five digits


@pytest.mark.parametrize("task", TASKS)
def test_no_point_of_a_box_is_better_than_its_least_feasible_value(task):
    game = TASKS[task]
    low, high = np.array(game.bounds).T
    near = np.clip(MINIMA[task] + np.random.default_rng(0).normal(0, 0.01, (2000, len(low))), low, high)
    far = np.random.default_rng(1).uniform(low, high, near.shape)
    feasible = [x for x in (*near, *far) if game.cost is None or game.cost(x) <= 0]
    assert len(feasible) > 2000
    assert min(map(game.function, feasible)) >= game.least - 1e-9


def test_an_infeasible_point_has_the_largest_regret():
    part, game = PLAYED["boxes"], TASKS["gardner"]
    assert game.cost((0.1, 0.1)) > 0
    found = part.play("gardner", oracle(point=(0.1, 0.1)), 0, 3)
    assert found[0] <= game.largest  # that of the best of the first points
    assert found[0] == found[-1]


@pytest.mark.needs_packages("bocode")
def test_random_play_finds_n_thirty_six_hundredths_of_the_best_of_crossed_barrel():
    part, task, seeds = PLAYED["crossed-barrel"], TABLES["crossed-barrel"], 60
    found = np.array([part.play(task, RANDOM, seed, 96) for seed in range(seeds)])
    for n in (12, 30, 60, 96):
        share = BEST / 600
        std = np.sqrt(n * share * (1 - share) * (600 - n) / 599)  # hypergeometric
        assert abs(found[:, n - STRUCTURES].mean() - n * share) < 4 * std / np.sqrt(seeds)


@pytest.mark.needs_packages("bocode")
def test_random_play_on_hpo_b_has_the_regret_of_as_many_draws_without_replacement():
    part, task, seeds = PLAYED["hpo-b"], TABLES["hpo-b"], 80
    regret = np.sort(1 - load_hpob(task).normalised)
    found = np.array([part.play(task, RANDOM, seed, 25) for seed in range(seeds)])
    for question in (0, 5, 25):
        n = 5 + question
        above = comb(len(regret) - np.arange(len(regret)), n) / comb(len(regret), n)  # P(all from rank i on)
        chance = above - np.append(above[1:], 0.0)  # that the best drawn has rank i
        mean = chance @ regret
        std = np.sqrt(chance @ (regret - mean) ** 2)
        drawn = found[:, part.kept.index(question)]
        assert abs(drawn.mean() - mean) < 4 * std / np.sqrt(seeds)


@pytest.mark.needs_packages("bocode")
def test_no_row_is_asked_for_twice_whatever_an_agent_wants(monkeypatch):
    part, task = PLAYED["hpo-b"], TABLES["hpo-b"]
    for name in ("exam_cases:Plain", "tuner", "gp-bucb", "optuna-tpe"):
        entrant, looked = Entrant.named(name), []
        made = Entrant.on_table

        def noted(self, *given, made=made, looked=looked):
            player = made(self, *given)
            tell = player.tell
            player.tell = lambda row, value: (looked.append(row), tell(row, value))
            return player

        with monkeypatch.context() as patch:
            patch.setattr(Entrant, "on_table", noted)
            part.play(task, entrant, 0, 30)
        assert len(looked) == len(set(looked)) == 35


def test_a_constrained_task_is_left_out_for_agents_without_constraints():
    part = PLAYED["boxes"]
    assert part.lacking("gardner", Entrant.named("gp-ei")) == ["constraint"]
    assert part.lacking("gardner", Entrant.named("tuner")) == []
    assert part.lacking("branin", Entrant.named("gp-ei")) == []


def test_what_other_libraries_assert_is_what_the_milestones_say():
    named = {at.title: numbers for at, numbers in PUBLISHED.items()}
    assert named["Branin, 5 random + 20, worst"]["trieste, EI"].value == pytest.approx(
        0.005 * 1.047393 * 51.95, rel=0.01
    )  # a relative .005 of the scaled least value, in Branin's unit
    assert named["Gardner, 6 random + 12, worst"]["trieste, CEI"].value == pytest.approx(0.005 * 2)


OWN = next(name for name, task in tasks().items() if task.tables and task.tables[0].startswith("ours/"))


@pytest.fixture
def _one_task(monkeypatch):
    """The suite is one task, whose table ships."""
    monkeypatch.setattr(entrants, "tasks", lambda: {OWN: tasks()[OWN]})


def counting(left):
    """A bar that notes in a list what is to come, and less one for each advance."""

    @contextmanager
    def bar(title, total):
        left.append(total)
        yield lambda: left.append(-1)

    return bar


@pytest.mark.usefixtures("_one_task")
def test_a_plug_in_is_ranked_beside_the_reference(tmp_path):
    left: list[int] = []
    sitting = Sitting(tmp_path, ["exam_cases:Plain", "tuner"], seeds=6, questions=5, bar=counting(left))
    report = PARTS["real"].hold(sitting)
    assert not report.failures
    (table,) = report.tables
    same = [row[0].split(" = ") for row in table.rows]  # of the same plays, as both draw from one seed
    assert {name for names in same for name in names} == {"exam_cases:Plain", REFERENCE}
    assert table.name == f"real-{tasks()[OWN].family}"
    assert sum(left) == 0 < max(left)
    stored = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    assert stored
    again = PARTS["real"].hold(sitting)
    assert again.tables[0].texts == table.texts
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")} == stored


@pytest.mark.usefixtures("_one_task")
def test_an_entrant_that_fails_on_a_real_task_is_named(tmp_path):
    report = PARTS["real"].hold(Sitting(tmp_path, ["exam_cases:Failing"], seeds=6, questions=5))
    assert report.failures
    assert all("no idea" in reason for _, reason in report.failures)
