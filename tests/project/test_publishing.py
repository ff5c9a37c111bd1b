"""What is published says the same everywhere and renders, and workflows call what exists."""

import io
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
RECIPE = yaml.safe_load((ROOT / "tools" / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
JOBS = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))["jobs"]
PLACEHOLDERS = runpy.run_path(str(ROOT / "tools" / "placeholders.py"))
SIZES = runpy.run_path(str(ROOT / "tools" / "sizes.py"))
RELATIVE = re.compile(r"""(?:\]\(|src=")(?!https?://)([^)#"]+)""")


def command(name: str) -> str:
    (step,) = (step for step in JOBS["build"]["steps"] if step.get("name") == name)
    return step["run"]


def run(line: str, folder: Path, **variables: str) -> int:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    return subprocess.run([bash, "-ec", line], cwd=folder, env=variables, check=False).returncode


@pytest.mark.long
def test_a_release_can_be_rehearsed_without_a_network():
    pytest.importorskip("twine", reason="needs the extra `dev`")
    checks = ["distributions", "sizes", "placeholders", "citation", "data", "install"]
    command = [sys.executable, "tools/rehearse_release.py", *checks, "--borrow"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    played = f"{PROJECT['version']} was installed by its name and played quick.toml"
    assert f"{PROJECT['name']} {played}" in done.stdout.splitlines()
    ended = [line.split() for line in done.stdout.splitlines()[-len(checks) :]]
    assert [name for name, *_ in ended] == checks
    said = {name: how for name, how, *_ in ended}
    assert (said["distributions"], said["install"]) == ("passed", "passed")
    assert said["placeholders"] == "refused:"  # until a person fills in


def test_the_readme_renders_as_on_pypi():
    markdown = pytest.importorskip("readme_renderer.markdown", reason="needs the extra `dev`")
    problems = io.StringIO()
    html = markdown.render(README, stream=problems)
    if html is None and not problems.getvalue():
        pytest.skip("needs readme-renderer[md]")
    assert problems.getvalue() == ""
    titles = re.findall(r"^## (.+)$", README, re.MULTILINE)
    assert len(titles) > 3
    assert html.count("<h2") == len(titles)
    assert "<table>" in html
    assert "<img" in html


def test_links_of_the_readme_lead_somewhere_and_the_workflow_makes_them_absolute(tmp_path):
    links = RELATIVE.findall(README)
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []
    (tmp_path / "README.md").write_text(README, encoding="utf-8")
    line = command("Make the links of the README absolute")
    assert run(line, tmp_path, SITE="https://host/o/r", GITHUB_REF_NAME="v1") == 0
    made = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert RELATIVE.findall(made) == []
    assert re.search(r"!\[[^]]*\]\(https://host/o/r/raw/v1/docs/figures/", made)
    assert 'src="https://host/o/r/raw/v1/docs/figures/front/film.gif"' in made
    assert "](https://host/o/r/blob/v1/docs/agents.md" in made


def test_the_workflow_refuses_tags_of_other_versions(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    version = command("Refuse a tag that is not the version")
    assert run(version, tmp_path, GITHUB_REF_NAME=f"v{PROJECT['version']}") == 0
    assert run(version, tmp_path, GITHUB_REF_NAME="v99") != 0


@pytest.mark.parametrize("target", PLACEHOLDERS["TARGETS"])
def test_nothing_is_published_with_a_placeholder_in_it(target, tmp_path):
    """As it stands the check refuses; once a person filled in, it does not."""
    for path in {each.path for each in PLACEHOLDERS["placeholders"](root=ROOT)}:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / path).read_text(encoding="utf-8")
        (tmp_path / path).write_text(PLACEHOLDERS["MARKS"].sub("filled in", text), encoding="utf-8")
    for word in ("https://example.invalid/x", "git clone ADDRESS", "# FILL-IN"):
        assert list(PLACEHOLDERS["placeholders"]((target,), tmp_path)) == []
        path = tmp_path / next(iter(PLACEHOLDERS["TARGETS"][target])).replace("**/*.*", "README.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(f"{before}\n{word}\n", encoding="utf-8")
        (found,) = PLACEHOLDERS["placeholders"]((target,), tmp_path)
        assert found.text == word
        path.write_text(before, encoding="utf-8")


def test_the_workflow_refuses_what_pypi_would_show_and_names_it(capsys):
    assert command("Refuse what a person has not filled in") == "python tools/placeholders.py pypi"
    assert PLACEHOLDERS["main"](["pypi"]) == 1
    said = capsys.readouterr().out
    assert [name for name in PLACEHOLDERS["TARGETS"]["pypi"] if f"pypi: {name}:" not in said] == []
    with pytest.raises(SystemExit, match="unknown target 'pipy'"):
        PLACEHOLDERS["main"](["pipy"])


def test_the_page_lists_exactly_what_a_person_fills_in():
    page = (ROOT / "docs" / "publishing.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([^`]+)` \|.*\| `(\w+)` \|$", page, re.MULTILINE)
    open_places = {(each.path, each.target) for each in PLACEHOLDERS["placeholders"]()}
    assert len(listed) == len(set(listed))
    assert set(listed) == open_places


def test_files_that_are_too_large_are_refused(tmp_path, capsys):
    assert command("Refuse files that are too large") == "python tools/sizes.py dist"
    for suffix, limit in SIZES["LIMITS"].items():
        (tmp_path / f"a{suffix}").write_bytes(bytes(limit * 1000))
    assert SIZES["main"](tmp_path) == 0
    for suffix, limit in SIZES["LIMITS"].items():
        (tmp_path / f"a{suffix}").write_bytes(bytes(limit * 1000 + 1))
        assert SIZES["main"](tmp_path) == 1
        assert f"a{suffix}: {limit} kB, at most {limit}" in capsys.readouterr().out
        (tmp_path / f"a{suffix}").unlink()
    assert SIZES["main"](tmp_path) == 1  # nothing was built


def test_only_the_job_that_publishes_may_sign_in_and_needs_the_built():
    assert (JOBS["publish"]["needs"], JOBS["install"]["needs"]) == ("install", "build")
    assert JOBS["publish"]["permissions"] == {"id-token": "write"}
    assert all("permissions" not in JOBS[name] for name in ("build", "install"))


def test_the_workflow_installs_the_wheel_on_every_python_that_is_named_and_the_next():
    listed = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if "Python :: 3." in each]
    assert JOBS["install"]["strategy"]["matrix"]["python"] == [*listed, "3.14"]  # not promised before it ran
    assert PROJECT["requires-python"] == f">={listed[0]}"


def test_the_citation_has_what_its_schema_requires_and_what_the_package_says():
    assert {"cff-version", "message", "title", "authors"} <= set(CITATION)
    for field in ("version", "license", "keywords"):
        assert CITATION[field] == PROJECT[field]
    assert PROJECT["version"] in (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    assert [author["name"] for author in CITATION["authors"]] == [a["name"] for a in PROJECT["authors"]]
    assert PROJECT["description"] in CITATION["title"]


def test_the_citation_is_valid():
    citation = pytest.importorskip("cffconvert", reason="needs cffconvert").Citation
    citation((ROOT / "CITATION.cff").read_text(encoding="utf-8")).validate()


def test_the_recipe_says_what_the_package_says():
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["eval"]]
    spaced = [re.sub(r"(?=>=)", " ", need) for need in wanted]
    python, *others = RECIPE["requirements"]["run"]
    assert [each.replace("-base", "") for each in others] == spaced
    assert python == "python >=${{ python_min }}"
    assert PROJECT["requires-python"] == f">={RECIPE['context']['python_min']}"
    assert RECIPE["context"]["version"] == PROJECT["version"]
    assert RECIPE["about"]["summary"] == PROJECT["description"]
    scripts = [f"{name} = {target}" for name, target in PROJECT["scripts"].items()]
    assert RECIPE["build"]["python"]["entry_points"] == scripts


# --- the repository ---

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
