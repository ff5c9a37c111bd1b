"""Workflows and templates of the public repository say what the package says, and links lead somewhere."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
HUB = ROOT / ".github"
WORKFLOWS = sorted((HUB / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def parsed(path: Path) -> dict[Any, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def commands(workflow: Path) -> list[str]:
    return [
        step["run"] for job in parsed(workflow)["jobs"].values() for step in job["steps"] if "run" in step
    ]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_read_alone_and_calls_what_exists(workflow):
    said = parsed(workflow)
    assert said["permissions"] == {"contents": "read"}
    for line in commands(workflow):
        named = re.findall(r"(?<![\w/$\"{.])((?:tools|docs|examples|\.ci)/[\w./-]+)", line)
        assert [path for path in named if not (ROOT / path).exists()] == [], line
        made = re.match(r"make (?:\w+=\S+ )*(\S+)", line)
        assert made is None or made[1] in TARGETS, line


def test_the_long_tests_run_weekly():
    weekly = parsed(HUB / "workflows" / "weekly.yml")
    (when,) = weekly[True]["schedule"]
    assert re.fullmatch(r"\d+ \d+ \* \* [0-6]", when["cron"])
    assert ".ci/run" in commands(HUB / "workflows" / "weekly.yml")
    assert "make test-long" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted(HUB.rglob("*.md")), ids=lambda path: path.stem)
def test_links_of_the_repositorys_pages_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("form", sorted(HUB.glob("ISSUE_TEMPLATE/*_*.yml")), ids=lambda path: path.stem)
def test_a_form_of_issues_has_what_the_hub_demands(form):
    said = parsed(form)
    assert said["name"]
    assert said["description"]
    for field in said["body"]:
        assert field["type"] in {"textarea", "input", "dropdown", "checkboxes", "markdown"}
        assert field["attributes"]["label"]
