"""Commands of the pages exist and take their arguments, and all run that one machine can run in minutes."""

import argparse
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from pages import DOCS, ROOT, blocks
from study_cases import TINY

from gpbandits import cli

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / ".github").rglob("*.md")),
    *(page for page in sorted(DOCS.rglob("*.md")) if "generated" not in page.parts),
    *sorted((ROOT / "tools").rglob("*.md")),
]
# Python is run by `test_docs`, `test_guides`, `test_readme` and the build of the tutorials; text is what
# programs print, or a scheme; toml is read by `test_docs`, and the rest by the build of the site.
LANGUAGES = {"python", "bash", "toml", "text", "markdown", "{csv-table}", "{toctree}"}
# Beginnings of commands that no test runs from the page, and why; of ours the arguments are parsed anyway.
NOT_RUN = {
    "git clone ": "needs the address of the repository",
    "cd gpbandits": "follows the clone",
    "git tag ": "makes a release",
    "git push ": "makes a release",
    "make demo": "installs from the network; its study is run by test_cli",
    "make test": "runs these tests",
    "pip install ": "installs from the network",
    "dask ": "serves until it is stopped; test_clusters starts it on one machine",
    "[ $? ": "is the end of a job's script; test_slurm runs that",
    "scontrol ": "needs Slurm; test_slurm runs the script",
    "kubectl ": "needs Kubernetes",
    "rattler-build ": "needs conda's channel; test_recipe builds on a channel of its own",
    "python docs/versions.py ": "test_versions runs it on two builds",
    "make rehearse": "installs from the network; test_publishing runs a part",
    "make lite": "installs from the network; test_guides and test_browser look at its notebooks",
    "python tools/placeholders.py": "ends with code 1 until a person fills in; test_publishing runs it",
    "python tools/rehearse_release.py": "takes minutes; test_publishing runs it",
    "python tools/conda_recipe.py": "needs an sdist; test_recipe runs it",
    "python tools/data_archive.py": "test_card runs it",
    "python tools/croissant.py": "writes the card; test_card compares it",
    "python on_slurm.py ": "needs Slurm; test_clusters compares the job scripts",
    "python on_kubernetes.py ": "needs Kubernetes; test_clusters compares the specifications",
    "python tools/integrations/": "fetches a package of OptunaHub; test_hub runs it from this folder",
    "gpbandits exam": "plays for minutes; tests/gpbandits/exam runs parts of it",
    "gpbandits table ": "needs the file of the page's Python; test_table_command runs it",
    "gpbandits board ": "serves until it is stopped; test_live_board starts it",
    "gpbandits run study.toml --out results/study --backend dask ": "needs a scheduler; see test_clusters",
    "gpbandits run first.toml --out results/first --backend dask ": "needs a scheduler; see test_clusters",
    "gpbandits leaderboard ": "takes hours; test_leaderboard and test_archive run short ones",
    "python examples/papers/": "takes hours and writes what docs/results stores; tests read that",
    "python benchmarks/": "takes hours and writes what docs/results stores; tests read that",
}
SCRIPTS = [ROOT, ROOT / "examples" / "clusters"]  # the folders from which pages start scripts


def commands(page: Path) -> Iterator[list[str]]:
    """Yield the words of each simple command, without what a shell or Slurm puts before it."""
    for block in blocks(page, "bash"):
        for line in block.splitlines():
            words = shlex.shlex(line, posix=True, punctuation_chars=True)
            words.whitespace_split = True
            command: list[str] = []
            for word in [*words, ";"]:
                if set(word) <= set(";&|"):
                    if command[:1] not in ([], ["for"], ["done"], ["wait"]):
                        yield command
                    command = []
                elif word not in ("do", "srun"):
                    command.append(word.replace("$i", "1"))


def is_run(command: list[str]) -> bool:
    return not " ".join([*command, ""]).startswith(tuple(NOT_RUN))


WITH_COMMANDS = [page for page in PAGES if blocks(page, "bash")]
RUN = [page for page in WITH_COMMANDS if any(map(is_run, commands(page)))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_a_page_has_a_language_by_which_it_is_checked(page):
    fence, before = "", ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fence = "" if fence else line.strip().removeprefix("```").partition(" ")[0]
            assert fence in LANGUAGES | {""}, number
            assert fence or (line.strip() == "```" and before), f"line {number} opens a block of no language"
        else:
            indented = not fence and line.startswith("    ") and not before.strip()
            assert not indented, f"line {number}: code is in a fence with its language"
        before = line
    programs = "gpbandits |python |pip |make |git |srun |dask |#SBATCH"
    assert not [each for each in blocks(page, "text") if re.match(programs, each)]


def test_what_is_not_run_is_on_a_page():
    shown = [" ".join([*command, ""]) for page in WITH_COMMANDS for command in commands(page)]
    assert [each for each in NOT_RUN if not any(line.startswith(each) for line in shown)] == []


NOT_HERE = ("dask_jobqueue", "dask_kubernetes", "dask_kubernetes.operator")  # no extra of ours has them


class ParsedError(Exception):
    """The arguments of a script are parsed, and it does no more."""


@pytest.fixture
def parse_only(monkeypatch):
    """Let our command and scripts parse their arguments and do nothing."""
    from typer.core import TyperCommand

    parse = argparse.ArgumentParser.parse_args

    def parsed(parser, *given):
        parse(parser, *given)
        raise ParsedError

    for name in NOT_HERE:
        monkeypatch.setitem(sys.modules, name, MagicMock())
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parsed)
    monkeypatch.setattr(TyperCommand, "invoke", lambda self, context: None)
    return monkeypatch


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_every_command_of_a_page_takes_its_arguments(page, parse_only, tmp_path):
    parse_only.chdir(tmp_path)
    for program, *arguments in commands(page):
        if program == "gpbandits":
            with pytest.raises(SystemExit) as stop:
                cli.main(arguments)
            assert stop.value.code == 0, arguments
            assert all((ROOT / name).exists() for name in arguments if name.startswith("examples/"))
        elif program == "python":
            (script,) = [folder / arguments[0] for folder in SCRIPTS if (folder / arguments[0]).exists()]
            if "argparse" in script.read_text(encoding="utf-8"):
                parse_only.setattr(sys, "argv", arguments)
                parse_only.setattr(sys, "path", [str(script.parent), *sys.path])
                with pytest.raises(ParsedError):
                    runpy.run_path(str(script), run_name="__main__")
        else:
            assert not is_run([program, *arguments]), "is no command of ours; give a reason in NOT_RUN"


@pytest.mark.long
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_the_commands_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("ID", "MIN", "STEP", "MAX"):  # Slurm's array of one job
        monkeypatch.setenv(f"SLURM_ARRAY_TASK_{name}", "1")
    Path("study.toml").write_text(TINY)
    for study in blocks(page, "toml")[:1]:
        Path("first.toml").write_text(study)
    for command in filter(is_run, commands(page)):
        subprocess.run([sys.executable, "-m", *command], check=True, timeout=600)
