"""The card of the real tasks says what the suite holds, for readers and for programs."""

import json
import re
import runpy
from pathlib import Path

from bandit_envs.data.runs import origins
from bandit_envs.problems.real import FAMILIES, FITTING, PLAYS, WORKERS, candidates, tasks
from gpbandits.catalogue import origin_of, task_rows

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs" / "card.md").read_text(encoding="utf-8").split())
SCRIPT = runpy.run_path(str(ROOT / "tools" / "croissant.py"))


def test_the_machine_readable_card_is_what_its_script_writes():
    assert (ROOT / "docs" / "croissant.json").read_text(encoding="utf-8") == SCRIPT["written"]()


def test_it_has_every_task_and_every_field_of_responsible_ai_its_section():
    card = json.loads((ROOT / "docs" / "croissant.json").read_text(encoding="utf-8"))
    assert [row["tasks/task"] for row in card["recordSet"][0]["data"]] == list(tasks())
    assert all(card[field] for field in SCRIPT["FIELDS"])
    assert not re.search(r"\]\(", json.dumps(card))  # no links of the page


def test_the_authors_of_every_table_are_named_with_doi_and_licence_where_people_cite():
    citing = (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    used = {origin_of(task) for task in (*tasks().values(), *candidates().values())}
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
