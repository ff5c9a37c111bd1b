"""A cell is named by all that its numbers rest on, and a damaged one is computed anew."""

from __future__ import annotations

import importlib
import random
import re
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from joblib.externals.loky import get_reusable_executor

from bandit_envs.laws.delays import LAWS
from gpbandits.evaluation.parquet import DamagedFileError, read_metadata
from gpbandits.evaluation.provenance import digest, named_files, sources, versions
from gpbandits.evaluation.result import Result
from gpbandits.experiments import Store, Study, run
from gpbandits.experiments.study import AgentEntry, EnvironmentEntry
from gpbandits.experiments.work import CellTask, settle

ROOT = Path(__file__).parents[3]
GP = EnvironmentEntry("GPBandit-GP-v0", "GP", {"horizon": 12, "num_arms": 10})
AGENTS = (AgentEntry("gp-ucb", "GP-UCB"), AgentEntry("random", "random"))
STUDY = Study("s", 2, (GP,), AGENTS)
AGENT = """
from my_numbers import ARM

class Fixed:
    def __init__(self, setting):
        pass
    def reset(self, seed):
        pass
    def act(self, observation):
        return ARM
    def update(self, observation, action, reward, info):
        pass
"""


def key(agent: str = "gp-ucb", environment: str = GP.id, **options: object) -> str:
    entry = EnvironmentEntry(environment, "e", GP.kwargs)
    return next(Study("s", 2, (entry,), (AgentEntry(agent, "a", dict(options)),)).cells()).key


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write modules of a user into a folder on the path, and forget what was known of them."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(**texts: str) -> None:
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        for cached in (digest, sources, versions):
            cached.cache_clear()

    return write


@pytest.mark.long
def test_an_edit_of_a_module_beside_the_agents_that_it_imports_renames_its_cells_and_no_others(module):
    module(my_agent=AGENT, my_numbers="ARM = 0", my_plots="")
    before, others = key("my_agent:Fixed"), key()
    module(my_plots="# edited")
    assert key("my_agent:Fixed") == before
    module(my_numbers="ARM = 1")
    assert key("my_agent:Fixed") != before
    assert key() == others


@pytest.mark.long
def test_both_the_module_that_registers_an_environment_and_that_of_its_class_are_hashed(module):
    module(
        my_class="from bandit_envs.environment.envs import BanditEnv as Mine",
        my_ids="import gymnasium\ngymnasium.register('Mine-v0', 'my_class:Mine', kwargs={'problem': 'gp'})",
    )
    assert {"my_ids", "my_class", "bandit_envs"} <= sources("my_ids:Mine-v0", "random").keys()


def test_retrained_weights_at_the_same_path_rename_the_cells_that_play_them(tmp_path):
    path = tmp_path / "weights.pt"
    path.write_bytes(b"first")
    first = key("agents.rl:pretrained", path=str(path))
    assert key("agents.rl:pretrained", path=str(path)) == first
    path.write_bytes(b"second")
    assert key("agents.rl:pretrained", path=str(path)) != first


def test_an_option_names_a_file_where_it_is_declared_to_be_a_path(module, tmp_path):
    annotations = ("str | os.PathLike[str]", "'list[os.PathLike]'", "str")
    options = ", ".join(f"o{i}: {annotation} = ''" for i, annotation in enumerate(annotations))
    module(my_agent=f"import os\ndef made(setting, {options}): pass")
    files = [tmp_path / name for name in "abc"]
    for file in files:
        file.write_text("content")
    given = {"o0": str(files[0]), "o1": [str(files[1])], "o2": str(files[2])}
    assert named_files(GP.id, {}, "my_agent:made", given).keys() == {str(file) for file in files[:2]}


def test_an_environment_declares_its_files_likewise(module, tmp_path):
    module(
        my_env="import os\nimport gymnasium\nclass Mine:\n"
        "    def __init__(self, table: os.PathLike, kernel: str): pass\n"
        "gymnasium.register('Declaring-v0', 'my_env:Mine')"
    )
    (tmp_path / "table.csv").write_text("1")
    kwargs = {"table": str(tmp_path / "table.csv"), "kernel": str(tmp_path / "my_env.py")}
    assert list(named_files("my_env:Declaring-v0", kwargs, "random", {})) == [kwargs["table"]]


def test_learners_are_named_by_the_versions_of_their_libraries_and_other_agents_are_not():
    pytest.importorskip("stable_baselines3", reason="needs the extra `rl`")
    libraries = {"torch", "stable-baselines3", "sb3-contrib"}
    for learner in ("sb3-ppo", "agents.rl:sb3", "agents.rl:pretrained"):
        assert libraries <= versions(learner).keys()
    assert not libraries & versions("gp-ucb").keys()
    assert "uninstalled" not in versions("sb3-ppo").values()


def test_a_package_names_what_its_agents_rest_on(module):
    module(my_agent='__distributions__ = ("joblib",)\n' + AGENT, my_numbers="ARM = 0")
    assert versions("my_agent:Fixed").keys() - versions("random").keys() == {"joblib"}


@pytest.mark.long
def test_a_law_of_a_users_module_is_known_to_workers_by_the_module_that_the_id_names(module, tmp_path):
    text = (ROOT / "docs" / "guides" / "law.md").read_text(encoding="utf-8")
    law = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[0].partition("grid = ")[0]
    module(my_laws=law + 'LAWS["weekend"] = Weekend\n')
    entry = EnvironmentEntry("my_laws:GPBandit-GP-v0", "week", GP.kwargs | {"delay": {"law": "weekend"}})
    which, store = Study("s", 4, (entry,), AGENTS, block_size=2), Store(tmp_path / "cells")
    get_reusable_executor().shutdown()  # workers of earlier tests know other folders
    assert run(which, store, 2) == []
    assert len(store.load(which)) == 1
    before = next(which.cells()).key
    module(my_laws=law.replace("7 - due", "8 - due") + 'LAWS["weekend"] = Weekend\n')
    assert next(which.cells()).key != before
    LAWS.pop("weekend")


@pytest.mark.long
def test_a_worker_with_other_code_than_the_run_began_with_computes_nothing(tmp_path):
    cell = next(STUDY.cells())
    metadata = Store.metadata(cell)
    metadata["configuration"]["versions"] = metadata["configuration"]["versions"] | {"numpy": "0.9"}
    store = Store(tmp_path)
    with pytest.raises(ValueError, match=r"versions of numpy: \S+ rather than 0\.9; install the same there"):
        settle(CellTask(cell, store.path(cell), metadata))
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_no_flipped_bit_and_no_cut_passes_for_what_was_written(tmp_path):
    assert run(STUDY, Store(tmp_path), 1) == []
    path = Store(tmp_path).path(next(STUDY.cells()))
    whole, rng = path.read_bytes(), random.Random(0)
    good, damaged = Result.load(path), 0
    for _ in range(150):
        torn = bytearray(whole)
        torn[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(torn if rng.random() < 0.9 else whole[: rng.randrange(len(whole))])
        try:
            read = Result.load(path)
        except ValueError as error:  # damaged, or a stranger's where a bit took all of the file's metadata
            assert str(path) in str(error)  # noqa: PT017 (some bits mean nothing, so that nothing is raised)
            damaged += 1
        else:
            assert read.regret["gp-ucb"].tolist() == good.regret["gp-ucb"].tolist()
            assert read.actions["gp-ucb"].tolist() == good.actions["gp-ucb"].tolist()
    assert damaged > 50


@pytest.mark.sampled(1)
def test_a_file_that_lost_its_header_or_the_type_of_a_column_is_damaged(tmp_path):
    assert run(STUDY, Store(tmp_path), 1) == []
    path = Store(tmp_path).path(next(STUDY.cells()))
    whole = pq.read_table(path)
    column, digest = whole.column_names.index("action"), b"gpbandits-digest"
    durations = whole.set_column(column, "action", whole["action"].cast(pa.duration("s")))
    headless = whole.replace_schema_metadata({digest: whole.schema.metadata[digest]})
    for table in (durations, headless):
        pq.write_table(table, path)
        with pytest.raises(DamagedFileError, match="delete it and compute it again"):
            Result.load(path)


def test_metadata_of_a_damaged_file_name_it(tmp_path):
    (tmp_path / "cell.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(
        DamagedFileError, match=r"cell\.parquet is damaged .*; delete it and compute it again"
    ):
        read_metadata(tmp_path / "cell.parquet")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_computes_damaged_cells_anew_and_no_others(tmp_path, workers):
    store = Store(tmp_path)
    assert run(STUDY, store, 1) == []
    damaged, sound = map(store.path, STUDY.cells())
    before, untouched = Result.load(damaged), sound.stat().st_mtime_ns
    damaged.write_bytes(damaged.read_bytes()[:-20])
    outcomes = []
    assert run(STUDY, store, workers, report=outcomes.append) == []
    assert [store.path(outcome.cell) for outcome in outcomes] == [damaged]
    assert Result.load(damaged).regret["gp-ucb"].tolist() == before.regret["gp-ucb"].tolist()
    assert sound.stat().st_mtime_ns == untouched


def test_a_folder_that_is_gone_is_named(tmp_path):
    cell, folder = next(STUDY.cells()), tmp_path / "deleted"
    with pytest.raises(FileNotFoundError, match="the folder of the cells is missing, or not shared") as error:
        settle(CellTask(cell, Store(folder).path(cell), Store.metadata(cell)))
    assert Path(error.value.filename) == folder
