"""What the README says runs, prints what it shows, and is short enough to be read."""

import contextlib
import io
import re
import runpy
import tomllib
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from pages import read

import agents
from agents.real.choice import MOST_ROUNDS
from agents.registry import BUILT_IN
from bandit_envs.environment.registration import IDS
from gpbandits import check_agent, evaluate
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.table import Table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHOWN = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
NUMBER = re.compile(r"[-+]?\d+\.?\d*")


def row(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


class Run(NamedTuple):
    names: list[dict[str, Any]]  # that each block makes
    printed: str
    folder: Path


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Each Python block, run alone."""
    folder, printed, names = tmp_path_factory.mktemp("readme"), io.StringIO(), []
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        for block in BLOCKS:
            names.append({})
            exec(compile(block, "README.md", "exec"), names[-1])
    return Run(names, printed.getvalue(), folder)


@pytest.mark.long
def test_each_python_block_runs_alone_and_prints_the_table_that_is_shown(ran: Run) -> None:
    assert len(BLOCKS) >= 5
    assert all((ran.folder / name).stat().st_size > 10_000 for name in ("regret.png", "two.html"))
    (*_, result) = (names["result"] for names in ran.names if "result" in names)
    table = result.table()
    assert isinstance(table, Table)
    header, *lines = SHOWN[0].splitlines()
    assert row(header) in map(row, ran.printed.splitlines())  # these columns, and no others
    chosen = [table.header.index(name) for name in row(header)]
    for line, cells in zip(lines, table.texts, strict=True):
        label, *shown = row(line)
        assert label == cells[chosen[0]]
        for ours, theirs in zip(shown, [cells[i] for i in chosen[1:]], strict=True):
            printed, computed = (np.array(NUMBER.findall(each), dtype=float) for each in (ours, theirs))
            # Other processors round differently, and runs may part: one printed digit less is compared.
            np.testing.assert_allclose(computed, printed, rtol=0.05)


@pytest.mark.long
def test_the_policy_learns_what_the_readme_says_and_without_the_wrapper_nothing(ran: Run) -> None:
    (block,) = [block for block in BLOCKS if "PPO(" in block]
    bare = re.sub(r"StatisticsObservation\((gym\.make\(.*?\))\)\n", r"\1\n", block)
    assert bare != block
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a learner that sees nothing of the functions it plays
        exec(compile(bare, "README.md", "exec"), names)
    policies = {"statistics": ran.names[BLOCKS.index(block)]["policy"], "constant": names["policy"]}
    entrants = {"random": "random"} | {label: agents.from_sb3(each) for label, each in policies.items()}
    keywords = {"num_arms": 10, "horizon": 50}
    result = evaluate("GPBandit-RKHS-v0", entrants, trials=50, env_kwargs=keywords)
    regret = {label: each[:, -1].mean() for label, each in result.regret.items()}
    stated = re.search(r"is ([\d.]+) times that of random play, without the wrapper ([\d.]+) times", README)
    assert stated is not None
    # Other processors round differently, and training parts: a third of what is stated.
    assert regret["statistics"] / regret["random"] == pytest.approx(float(stated[1]), rel=0.33)
    assert regret["constant"] / regret["random"] == pytest.approx(float(stated[2]), abs=0.1)


@pytest.mark.long
def test_the_template_credits_late_rewards_to_the_arms_that_earned_them() -> None:
    (block,) = [block for block in BLOCKS if "class EpsilonGreedy" in block]
    names: dict[str, Any] = {}
    exec(compile(block.partition("\n\nprint(check_agent(")[0], "README.md", "exec"), names)
    template = names["EpsilonGreedy"]
    check_agent(template)
    regret = evaluate("GPBandit-Delayed-v0", {"it": template, "random": "random"}, trials=8).regret
    assert regret["it"][:, -1].mean() < 0.6 * regret["random"][:, -1].mean()  # about 0.37


def test_the_extras_in_the_readme_are_all_that_a_user_may_want() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    paragraph = README.partition("Further extras")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", paragraph))
    assert named | {"eval", "dev", "docs", "lite"} == set(project["optional-dependencies"])
    (every,) = project["optional-dependencies"]["all"]
    assert set(re.findall(r"\w+", every)) - {"gpbandits"} == (named | {"eval"}) - {"all", "rl", "peers"}


# The classes of the leaderboard that are of a row's setting, and all that the default plays.
CLASSES = {
    "gp-bucb": ("Plain", "Real", "Delayed"),
    "constrained-ei": ("Constrained",),
    "gp-agent": ("Plain", "Real", "Delayed", "Contextual", "Constrained", "Budgeted", "Changing", "Combined"),
    "ratio-ucb": ("Budgeted",),
}


def test_those_to_begin_with_have_the_places_that_the_page_says() -> None:
    page = read("agents.md").partition("# Which agent?")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| [^|]+ \| `([\w-]+)`", page, re.MULTILINE)
    assert {*CLASSES} <= set(rows)
    said = []
    for name, classes in CLASSES.items():
        places = []
        for each in classes:
            section = read("leaderboard.md").partition(f"\n## {each}\n")[2].partition("\n## ")[0]
            (place,) = re.findall(rf"^\| (?:.* = )?{name}\W.*?\| (\d+) \| \d+ \|", section, re.MULTILINE)
            assert int(place) <= 5, (name, each)
            places.append(f"{place} ({each.lower()})")
        said.append(f"`{name}` {', '.join(places)}")
    assert "; ".join(said) in " ".join(page.split())


def test_the_evidence_for_the_one_agent_is_that_of_the_stored_trials() -> None:
    script = runpy.run_path(str(ROOT / "tools" / "real_marks.py"))
    section = read("agents.md").partition("## Evidence for `gp-agent`")[2].partition("\n## ")[0]
    assert script["evidence"](script["scores"]()) in " ".join(section.split())
    (trials,) = {Result.load(path).num_trials for path in script["ARCHIVE"].glob("*.parquet")}
    assert f"in {trials} trials a task" in section
    assert f"{MOST_ROUNDS:,} rounds" in section


def test_the_readme_has_700_to_900_words_and_counts_what_is_registered() -> None:
    assert 700 <= len(README.split()) <= 900
    assert f"{len(IDS)} [Gymnasium]" in README
    ours = " ".join(BUILT_IN.values()).split()
    assert f"{len(ours)} agents" in README


def test_the_speed_in_the_readme_is_that_of_the_page_of_measurements() -> None:
    page = read("performance.md")
    assert "| workload | gpbandits | scikit-learn |" in page
    ours, times = re.findall(r"^\| W1 \| (\d+) \| (\d+) \(", page, re.MULTILINE)[0]
    assert f"[{ours} µs](docs/performance.md), {times} times" in README


def test_every_id_and_agent_is_on_its_page() -> None:
    environments, entrants = (
        (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("environments", "agents")
    )
    ours = [name for name in agents.names() if hasattr(agents, name.replace("-", "_"))]
    assert [env_id for env_id in IDS if f"`{env_id}`" not in environments] == []
    assert [name for name in ours if f"`{name}`" not in entrants] == []


def test_every_name_in_the_readme_is_registered() -> None:
    evidence = read("agents.md").partition("## Evidence for `gp-agent`")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z]+-[a-z-]+)`", README + evidence))
    assert len(named) >= 5
    assert [name for name in named if name not in agents.names()] == []
    assert set(re.findall(r"GPBandit-\w+-v0", README)) <= set(IDS)
