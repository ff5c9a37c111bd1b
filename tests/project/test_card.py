"""The card of the real tasks says what the suite holds, for readers and for programs."""

import hashlib
import json
import runpy
import zipfile
from pathlib import Path

import pytest

from bandit_envs.data.files import find_wheel
from bandit_envs.data.runs import origins
from bandit_envs.problems.real import FAMILIES, FITTING, PLAYS, WORKERS, tasks
from gpbandits.catalogue import origin_of, task_rows

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs" / "card.md").read_text(encoding="utf-8").split())
SCRIPT, ADMISSION = (
    runpy.run_path(str(ROOT / "tools" / f"{name}.py")) for name in ("croissant", "real_admission")
)


def test_the_machine_readable_card_is_what_its_script_writes():
    assert (ROOT / "docs" / "croissant.json").read_text(encoding="utf-8") == SCRIPT["written"]()


def files_of(card):
    return {each["@id"]: each for each in card["distribution"]}


@pytest.mark.parametrize("name", SCRIPT["BLAKE2"])
def test_the_address_of_a_wheel_is_that_of_the_file_with_this_digest(name):
    wheel = find_wheel(name)
    if wheel is None:
        pytest.skip(f"the wheel of {name} is not on this machine")
    assert hashlib.blake2b(wheel.read_bytes(), digest_size=32).hexdigest() == SCRIPT["BLAKE2"][name]


def test_the_archive_of_our_data_is_the_same_file_in_every_writing_and_that_of_the_card(tmp_path):
    build = SCRIPT["ARCHIVE"]["build"]
    first, second = build(tmp_path / "a").read_bytes(), build(tmp_path / "b").read_bytes()
    card = json.loads((ROOT / "docs" / "croissant.json").read_text(encoding="utf-8"))
    assert first == second
    assert files_of(card)["gpbandits"]["sha256"] == hashlib.sha256(first).hexdigest()
    with zipfile.ZipFile(tmp_path / "a" / SCRIPT["ARCHIVE"]["NAME"]) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert {"digits.csv", "real_priors.toml", "tasks.toml", "LICENSE"} <= set(held)
    columns = [field["name"] for field in card["recordSet"][1]["field"]]
    assert held["digits.csv"].decode().splitlines()[0].split(",") == columns


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated")  # in rdflib
def test_the_validator_of_the_format_finds_nothing_and_reads_the_records(tmp_path, caplog):
    library = pytest.importorskip("mlcroissant", reason="needs mlcroissant")
    archive = SCRIPT["ARCHIVE"]["build"](tmp_path)
    data = library.Dataset(ROOT / "docs" / "croissant.json", mapping={"gpbandits": archive})
    assert data.metadata.issues.report() == ""
    assert [each for each in caplog.records if each.levelname == "WARNING"] == []  # of the context
    assert len(list(data.records("tasks"))) == len(tasks())
    assert len(list(data.records("digits"))) == 240 * 5


def test_the_authors_of_every_table_are_named_with_doi_and_licence_where_people_cite():
    citing = (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    used = {origin_of(task) for task in (*tasks().values(), *ADMISSION["candidates"]().values())}
    for origin in used:
        if origin.doi:
            said = f"{origin.authors}, [{origin.doi}](https://doi.org/{origin.doi}): {origin.licence}"
            assert said in citing
    assert used == {*origins().values()}
    licences = {name: origins()[name].licence for name in ("hpobench", "hpolib", "nasbench201")}
    assert licences == {"hpobench": "Apache-2.0", "hpolib": "BSD-3-Clause", "nasbench201": "MIT"}
    rows = {row[0]: row for row in task_rows()}
    assert rows["naval-budget"][4] == "BSD-3-Clause"
    assert "doi:10.48550/arXiv.1905.04970" in rows["naval-budget"][3]
    assert rows["hpob-4796-23"][3].startswith("Pineda Arango et al. (2021), HPO-B, doi:")
    assert rows["fullerenes"][3].startswith("Walker et al. (2017)")  # who measured it, not who collected it


def test_the_numbers_of_the_card_are_those_of_the_suite():
    families = {task.family for task in tasks().values()}
    functions = {task.problem or task.tables for task in tasks().values()}
    assert len(families) == 10 == len(FAMILIES) + 1  # and sensors
    assert f"{len(tasks())} tasks in ten families, {len(functions)} reward functions" in PAGE
    assert WORKERS == 10
    assert f"Workers (ten), budgets ({PLAYS} median runs), limits (the {FITTING}-quantile)" in PAGE
