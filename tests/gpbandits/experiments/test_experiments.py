"""Studies: files, cells, the store and resuming."""

import itertools

import numpy as np
import pytest
from players import FirstArm

from gpbandits.evaluation import trial_seeds
from gpbandits.evaluation.provenance import sources
from gpbandits.evaluation.result import Record, Result
from gpbandits.experiments import Checkpoints, Store, Study, compute, load_study
from gpbandits.experiments import run as run_study
from gpbandits.experiments.study import AgentEntry, EnvironmentEntry
from gpbandits.experiments.toml import parse_study

HORIZON = 12
GP = EnvironmentEntry("GPBandit-GP-v0", "GP", {"horizon": HORIZON, "num_arms": 20})
RKHS = EnvironmentEntry("GPBandit-RKHS-v0", "RKHS", {"horizon": HORIZON, "num_arms": 20})
AGENTS = (AgentEntry("gp-ucb", "GP-UCB", {"beta_scale": 0.2}), AgentEntry("random", "random"))


def study(**changes):
    return Study(
        **{"name": "s", "trials": 5, "environments": (GP, RKHS), "agents": AGENTS, "block_size": 2} | changes
    )


def assert_same_numbers(a, b):
    assert a.agents == b.agents
    for label in a.agents:
        for name, left, right in zip(
            Record._fields[:10], a.records[label][:10], b.records[label][:10], strict=True
        ):
            if name != "seconds":
                np.testing.assert_array_equal(left, right)


def results_of(store, which):
    return {environment.label: result for environment, result in store.load(which)}


@pytest.fixture
def computed(monkeypatch):
    cells = []

    def spy(cell):
        cells.append(cell)
        return compute(cell)

    monkeypatch.setattr("gpbandits.experiments.work.compute", spy)
    return cells


def test_cells_cover_every_trial_of_every_pair_once_in_aligned_blocks():
    cells = list(study().cells())
    played = [
        (cell.environment.label, cell.agent.label, trial)
        for cell in cells
        for trial in range(cell.first_trial, cell.first_trial + cell.trials)
    ]
    assert sorted(played) == sorted(itertools.product(("GP", "RKHS"), ("GP-UCB", "random"), range(5)))
    assert all(cell.first_trial % 2 == 0 for cell in cells)
    assert [cell.first_trial for cell in cells[:4]] == [0] * 4


def test_the_key_depends_on_everything_but_the_labels(monkeypatch):
    base = next(study().cells()).key
    relabelled = study(environments=(EnvironmentEntry(GP.id, "other", GP.kwargs),)).cells()
    assert next(relabelled).key == base
    variants = [
        study(seed=1),
        study(block_size=1),
        study(checkpoints=Checkpoints("every")),
        study(checkpoints=Checkpoints(per_decade=9)),
        study(environments=(EnvironmentEntry(GP.id, "GP", GP.kwargs | {"num_arms": 21}),)),
        study(environments=(RKHS,)),
        study(agents=(AgentEntry("gp-ucb", "GP-UCB", {"beta_scale": 0.3}),)),
        study(agents=AGENTS[1:]),
    ]
    keys = [next(variant.cells()).key for variant in variants] + [list(study().cells())[-1].key]
    monkeypatch.setattr("gpbandits.experiments.study.versions", lambda *names: {"numpy": "another version"})
    keys.append(next(study().cells()).key)
    monkeypatch.setattr("gpbandits.experiments.study.sources", lambda *names: {"agents": "edited"})
    keys.append(next(study().cells()).key)
    assert len({base, *keys}) == len(keys) + 1


def test_sources_are_those_of_the_suite_and_of_whoever_wrote_the_agent_and_the_environment():
    suite = ["agents", "bandit_envs", "gpbandits"]
    assert list(sources(GP.id, "gp-ucb")) == suite
    assert list(sources("synthetic:" + GP.id, "gp-ucb")) == [*suite, "synthetic"]
    assert list(sources("bandit_envs:" + GP.id, "synthetic:record")) == [*suite, "synthetic"]
    assert len(set(sources(GP.id, "synthetic:record").values())) == 4


def test_more_trials_and_agents_reuse_what_exists(tmp_path, computed):
    run_study(study(trials=4, agents=AGENTS[:1]), Store(tmp_path), workers=1)
    assert len(computed) == 2 * 2
    for _ in range(2):  # of which the second computes nothing
        assert run_study(study(trials=6), Store(tmp_path), workers=1) == []
    again = [(cell.agent.label, cell.first_trial) for cell in computed[4:]]
    assert sorted(again) == sorted(2 * [("GP-UCB", 4), ("random", 0), ("random", 2), ("random", 4)])


@pytest.mark.long
def test_blocks_and_the_number_of_workers_leave_the_numbers_unchanged(tmp_path):
    run_study(study(block_size=2), Store(tmp_path / "blocks"), workers=2)
    run_study(study(block_size=10), Store(tmp_path / "whole"), workers=1)
    blocks = results_of(Store(tmp_path / "blocks"), study(block_size=2))
    whole = results_of(Store(tmp_path / "whole"), study(block_size=10))
    assert list(blocks) == ["GP", "RKHS"]
    for label, result in whole.items():
        assert result.num_trials == 5
        assert result.horizon == HORIZON
        assert_same_numbers(result, blocks[label])


def test_a_study_gives_the_numbers_of_one_evaluation(tmp_path):
    from gpbandits import evaluate

    run_study(study(environments=(GP,)), Store(tmp_path), workers=1)
    specs = {"gp-ucb": ("gp-ucb", {"beta_scale": 0.2}), "random": "random"}
    direct = evaluate(GP.id, specs, trials=5, seed=0, env_kwargs=GP.kwargs)
    stored = results_of(Store(tmp_path), study(environments=(GP,)))["GP"]
    np.testing.assert_array_equal(stored.regret["GP-UCB"], direct.regret["gp-ucb"])
    np.testing.assert_array_equal(stored.actions["random"], direct.actions["random"])


def test_a_cell_that_raises_is_reported_and_stops_no_other(tmp_path):
    agents = (AgentEntry("gp-ucb", "broken", {"delta": 2.0}), AGENTS[1])
    reports = []
    failed = run_study(study(agents=agents), Store(tmp_path), workers=1, report=reports.append)
    assert len(reports) == 12
    assert {outcome.cell.agent.label for outcome in failed} == {"broken"}
    assert len(failed) == 6
    assert "Traceback" in failed[0].failure
    assert "delta" in failed[0].failure
    assert results_of(Store(tmp_path), study(agents=agents))["GP"].agents == ["random"]


def test_an_unfinished_agent_is_left_out_of_the_results(tmp_path):
    store = Store(tmp_path)
    run_study(study(), store, workers=1)
    store.path(next(study().cells())).unlink()
    results = results_of(store, study())
    assert results["GP"].agents == ["random"]
    assert results["RKHS"].agents == ["GP-UCB", "random"]


def test_by_default_fifty_rounds_a_decade_are_kept():
    assert Checkpoints(per_decade=4).rounds(12).tolist() == [1, 2, 3, 4, 7, 12]
    rounds = Checkpoints().rounds(30_000)
    assert study().checkpoints == Checkpoints("log", 50)
    assert rounds[[0, -1]].tolist() == [1, 30_000]
    assert ((rounds > 300) & (rounds <= 3000)).sum() == pytest.approx(50, abs=1)


def test_a_cell_holds_its_configuration_versions_environment_seeds_and_timings(tmp_path):
    from gpbandits.evaluation.parquet import read_metadata

    cell = next(study().cells())
    store = Store(tmp_path)
    run_study(study(), store, workers=1)
    metadata = read_metadata(store.path(cell))
    assert metadata["configuration"] == cell.configuration
    assert {"python", "numpy", "gpbandits"} <= metadata["versions"].keys()
    assert metadata["environment_spec"] == {
        "id": "GPBandit-GP-v0",
        "entry_point": "bandit_envs.environment.envs:BanditEnv",
        "kwargs": {"problem": "gp"},
        "max_episode_steps": None,
    }
    assert metadata["seeds"] == [list(trial_seeds(0, trial)) for trial in (0, 1)]
    result = Result.load(store.path(cell))
    assert result.num_trials == 2
    assert metadata["timings"]["seconds"] > result.seconds["gp-ucb"].sum() > 0


MINIMAL = """
[study]
name = "s"
trials = 3
[[environments]]
id = "GPBandit-GP-v0"
[[agents]]
name = "random"
"""


def test_a_study_file_needs_little_and_defaults_the_rest(tmp_path):
    (tmp_path / "s.toml").write_text(MINIMAL)
    loaded = load_study(tmp_path / "s.toml")
    assert loaded == Study(
        "s", 3, (EnvironmentEntry("GPBandit-GP-v0", "GPBandit-GP-v0"),), (AgentEntry("random", "random"),)
    )


def test_a_study_file_may_begin_with_the_mark_of_windows_editors(tmp_path):
    (tmp_path / "s.toml").write_text(MINIMAL, encoding="utf-8-sig")
    assert load_study(tmp_path / "s.toml").trials == 3


def test_a_study_file_can_say_everything():
    loaded = parse_study(
        {
            "study": {"name": "s", "trials": 3, "seed": 7, "description": "d", "block_size": 2},
            "environments": [{"id": "GPBandit-GP-v0", "label": "GP", "kwargs": {"noise": {"law": "none"}}}],
            "agents": [{"name": "gp-ucb", "label": "scaled", "options": {"beta_scale": 0.2}}],
            "checkpoints": {"spacing": "log", "per_decade": 10},
        }
    )
    assert (loaded.seed, loaded.block_size, loaded.description) == (7, 2, "d")
    assert loaded.environments[0].kwargs == {"noise": {"law": "none"}}
    assert loaded.agents[0].options == {"beta_scale": 0.2}
    assert loaded.checkpoints == Checkpoints("log", 10)


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("trials = 3", "trails = 3", r"\[study\] has the unknown key 'trails'; allowed are name, trials, "),
        ("[[agents]]", "[[agent]]", "the file has the unknown key 'agent'; allowed are study, environments"),
        (
            'id = "GP',
            'name = "GP',
            r"\[\[environments\]\] number 1 has the unknown key 'name'; allowed are id",
        ),
        ("trials = 3", "", r"\[study\] needs the key 'trials'"),
        ('name = "random"', "", r"\[\[agents\]\] number 1 needs the key 'name'"),
        ("trials = 3", 'trials = "3"', r"trials in \[study\] must be an integer, got '3'"),
        ("trials = 3", "trials = true", r"trials in \[study\] must be an integer, got True"),
        ("trials = 3", "trials = 0", "trials must be at least 1, got 0"),
        ("trials = 3", 'trials = 3\nbaseline = "randon"', r"baseline 'randon' \(did you mean 'random'\?\);"),
        ("trials = 3", 'trials = 3\ncolumns = "regret"', r"columns in \[study\] must be an array, got 'reg"),
        ("trials = 3", "trials = 3\nseed = -1", "seed must be an integer >= 0, got -1"),
        ("[study]", "[[study]]", "study must be a table"),
        ("[[agents]]", "[agents]", "agents must be an array of tables"),
        ('[[agents]]\nname = "random"', "", r"at least one entry of \[\[agents\]\], got none"),
        ("[[agents]]", '[[agents]]\nname = "random"\n[[agents]]', "'random' twice"),
        ("[[agents]]", "[[environments]]\nid = 'GPBandit-GP-v0'\n[[agents]]", "'GPBandit-GP-v0' twice"),
        (
            'name = "random"',
            'name = "random"\noptions = 3',
            r"options in \[\[agents\]\] number 1 must be a table",
        ),
        ('name = "random"', 'name = "random"\noptions = {a = 1979-05-27}', "numbers, booleans"),
        ("[study]", '[checkpoints]\nspacing = "linear"\n[study]', "spacing must be one of log, every"),
        ("[study]", "[study", "Expected"),
        ("trials = 3", "trials = 100000000", "trials must give at most 1000000 cells, got 100000000"),
        (
            "trials = 3",
            "trials = 200000\nblock_size = 200000",
            "block_size must be at most 100000 trials in a",
        ),
        ('name = "random"', f'name = "random"\noptions.a = {"[" * 9999}', "recursion"),
        ('name = "random"', f'name = "random"\noptions.{"a." * 9999}b = 1', "recursion"),
    ],
)
def test_bad_study_files_give_one_clear_error(tmp_path, old, new, message):
    assert old in MINIMAL
    path = tmp_path / "bad.toml"
    path.write_text(MINIMAL.replace(old, new))
    with pytest.raises(ValueError, match=message) as error:
        load_study(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_study_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"none\.toml: No such file"):
        load_study(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("label", "name"),
    [("../a/b: c?", "a-b-c"), ("NUL", "NUL-"), ("com1.x", "com1.x-"), ("", "environment"), ("β = 1", "β-1")],
)
def test_labels_become_names_of_files_on_every_system(label, name):
    assert EnvironmentEntry(GP.id, label).file_name == name


def test_long_labels_become_short_names_that_still_differ():
    names = [EnvironmentEntry(GP.id, "β" * 300 + end).file_name for end in "ab"]
    assert all(100 < len(name.encode()) <= 120 for name in names)
    assert names[0] != names[1]


@pytest.mark.parametrize(("one", "other"), [("GP", "gp"), ("GP 1", "GP-1"), ("Ⅳ", "IV")])
def test_labels_of_environments_differ_as_names_of_files(one, other):
    entries = tuple(EnvironmentEntry(GP.id, label) for label in (one, other))
    with pytest.raises(ValueError, match=f"as names of files, got '{one}' and '{other}'"):
        study(environments=entries)


class Third(FirstArm):
    """An agent that fails in the trial of index 3 alone."""

    def reset(self, seed):
        self.fails = seed == trial_seeds(0, 3)[1]

    def act(self, observation):
        if self.fails:
            raise RuntimeError("I cannot count to four")
        return 0


def test_a_failure_names_its_trial_wherever_its_block_begins(tmp_path):
    agents = (AgentEntry("test_experiments:Third", "third"),)
    (outcome,) = run_study(study(environments=(GP,), agents=agents), Store(tmp_path), workers=1)
    assert outcome.cell.first_trial == 2
    assert "in trials 3..3" in outcome.failure
