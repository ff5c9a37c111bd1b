"""What a user installs: the wheel works outside the checkout, and importing it costs little."""

import csv
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from contextlib import suppress
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement

CHECKOUT = Path(__file__).parents[2]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = {"agents", "bandit_envs", "gpbandits"}
HEAVY = {"joblib", "matplotlib", "pandas", "pyarrow", "scipy", "sklearn", "stable_baselines3", "torch"}

# Runs in the clean environment: every id that needs no data, and one comparison of two agents.
PLAY = """
import sys
from pathlib import Path

import gymnasium
import agents
import bandit_envs
import gpbandits
from bandit_envs.data import find
from bandit_envs.environment.registration import IDS
from gpbandits import evaluate
from bandit_envs.problems import data_files

for package in (bandit_envs, agents, gpbandits):
    assert Path(package.__file__).is_relative_to(sys.prefix), package.__file__

ids = [name for name in gymnasium.registry if name in IDS]
assert len(ids) == len(IDS)
playable = [name for name in ids if all(map(find, data_files(IDS[name])))]
assert len(playable) >= 5, ids
for name in playable:
    env = gymnasium.make(name)
    env.reset(seed=0)
    env.action_space.seed(0)
    env.step(env.action_space.sample())
    env.close()
names = {"GP-UCB": "gp-ucb", "random": "random"}
result = evaluate("GPBandit-GP-v0", names, trials=2, env_kwargs={"horizon": 5})
assert result.regret["GP-UCB"].shape == (2, 5)
print("played", *playable)
"""


def run(*command: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command without this process's import path."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=env | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def succeed(*command: str | Path, cwd: Path, **variables: str) -> str:
    result = run(*command, cwd=cwd, **variables)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel built from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    build = ("-m", "build", "--no-isolation", "--outdir", folder, CHECKOUT)
    succeed(sys.executable, *build, cwd=folder)  # elsewhere: a folder build/ would hide the tool
    return folder


def installed(distributions: Path, folder: Path, borrowed: str) -> Path:
    """The interpreter of a new environment that has the wheel, and the dependencies of another folder."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    (wheel,) = distributions.glob("*.whl")
    pip = ("-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    succeed(sys.executable, *pip, cwd=folder)
    own = succeed(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    # A path in a .pth file comes after the environment's own packages, and the .pth files found there (an
    # editable install's, say) are not read: what is imported is the wheel.
    (Path(own) / "borrowed.pth").write_text(borrowed + "\n")
    return python


@pytest.fixture(scope="module")
def clean_python(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has the wheel, and borrows the dependencies from this one."""
    return installed(distributions, tmp_path_factory.mktemp("clean"), sysconfig.get_path("purelib"))


def needs_of(*extras: str) -> list[Distribution]:
    """The distributions that our package needs with some extras and that are installed here."""
    found: dict[str, Distribution] = {}
    groups = PROJECT["optional-dependencies"]
    left = [*map(Requirement, [*PROJECT["dependencies"], *chain(*(groups[name] for name in extras))])]
    while left:
        need = left.pop()
        with suppress(PackageNotFoundError):
            found[need.name] = known = distribution(need.name)
            for further in map(Requirement, known.requires or []):
                asked = further.marker is None or any(
                    further.marker.evaluate({"extra": extra}) for extra in need.extras or {""}
                )
                left += [further] * (asked and further.name not in found)
    return [*found.values()]


def only(needed: list[Distribution], folder: Path) -> Path:
    """A folder of links to these distributions."""
    folder.mkdir()
    for each in needed:
        for top in {file.parts[0] for file in each.files or []} - {"..", "__pycache__"}:
            if not (folder / top).exists():  # namespaces are shared
                (folder / top).symlink_to(each.locate_file(top))
    return folder


@pytest.mark.long
@pytest.mark.parametrize(
    ("guide", "extras", "uses"),
    [
        ("text", ["eval"], "pandas"),
        ("sklearn", ["eval"], "pandas"),
        ("queries", ["eval", "query", "trackers"], "duckdb"),
    ],
)
def test_a_guide_needs_no_more_than_its_extras(distributions, tmp_path, guide, extras, uses):
    pytest.importorskip(uses, reason=f"needs the extras {extras}")
    python = installed(distributions, tmp_path / "venv", str(only(needs_of(*extras), tmp_path / "needed")))
    text = (CHECKOUT / "docs" / "guides" / f"{guide}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    (tmp_path / "code").mkdir()
    succeed(python, "-c", "\n".join(blocks), cwd=tmp_path / "code", MPLBACKEND="Agg")
    assert run(python, "-c", "import torch, pytest", cwd=tmp_path).returncode != 0  # nothing else is there


@pytest.mark.long
def test_the_wheel_has_our_packages_alone_and_no_tests(distributions):
    (wheel,) = distributions.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    folders = {name.partition("/")[0] for name in names}
    assert {name for name in folders if not name.endswith(".dist-info")} == OURS
    assert [name for name in names if re.search(r"(^|/)(tests?|conftest|test_[^/]*)(/|\.py$)", name)] == []


@pytest.mark.long
def test_the_stored_sizes_of_the_distributions_are_of_this_version_or_nearly(distributions):
    with (CHECKOUT / "docs" / "results" / "distributions.csv").open(newline="") as file:
        stored = {row["what"]: float(row["kB"]) for row in csv.DictReader(file)}
    for kind, pattern in {"wheel": "*.whl", "sdist": "*.tar.gz"}.items():
        (found,) = distributions.glob(pattern)
        assert found.stat().st_size / 1000 == pytest.approx(stored[kind], rel=0.1)  # else measure them anew


@pytest.mark.long
def test_the_wheel_has_every_file_of_the_packages(distributions):
    """Code, tables, studies, templates and the marks of types."""
    (wheel,) = distributions.glob("*.whl")
    files = [path for package in OURS for path in (CHECKOUT / package).rglob("*") if path.is_file()]
    names = {path.relative_to(CHECKOUT).as_posix() for path in files if "__pycache__" not in path.parts}
    assert len(names) > 300
    assert names <= set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.long
def test_the_wheel_plays_outside_the_checkout(clean_python, tmp_path):
    assert succeed(clean_python, "-W", "error", "-c", PLAY, cwd=tmp_path).startswith("played GPBandit-")


@pytest.mark.parametrize("package", ["bandit_envs", "agents", "gpbandits", "gpbandits.commands"])
def test_importing_a_package_loads_nothing_heavy(package, tmp_path):
    code = f"import sys, {package}; print(*{HEAVY!r} & set(sys.modules))"
    assert succeed(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(CHECKOUT)).split() == []


def test_a_folder_named_agents_in_the_way_is_named_by_the_error(tmp_path):
    shadow = tmp_path / "agents" / "__init__.py"
    shadow.parent.mkdir()
    shadow.touch()
    code = (
        "from gpbandits.evaluation import evaluate\n"
        "evaluate('GPBandit-GP-v0', {'GP-UCB': 'gp-ucb'}, trials=1, env_kwargs={'horizon': 2})"
    )
    result = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(CHECKOUT))
    error = result.stderr.strip().splitlines()[-1]
    assert result.returncode != 0
    assert "agents" in error
    assert str(shadow) in error


@pytest.mark.parametrize("left", ["import logging\n", None], ids=["replaced", "removed"])
def test_a_distribution_that_overwrites_agents_or_removed_it_is_named_with_the_remedy(left, tmp_path):
    """As pip installs openai-agents: into the same folder, with an `__init__.py` of its own."""
    for package in ("gpbandits", "agents"):
        (tmp_path / package).mkdir()
        shutil.copy(CHECKOUT / package / "__init__.py", tmp_path / package)
    if left is None:
        (tmp_path / "agents" / "__init__.py").unlink()
    else:
        (tmp_path / "agents" / "__init__.py").write_text(left)
    result = run(sys.executable, "-Sc", "import gpbandits", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    error = result.stderr.strip().splitlines()[-1]
    assert "openai-agents" in error
    assert str(tmp_path / "agents" / "__init__.py") in error
    assert "install gpbandits into a new environment" in error


USE = """
import agents
from gpbandits import check_agent, evaluate

assert "explore-then-commit" in agents.names()
check_agent("explore-then-commit")
chosen = {"all": ("explore-then-commit", {"share": 1.0}), "ETC": "explore-then-commit"}
result = evaluate("GPBandit-GP-v0", chosen, trials=20, env_kwargs={"num_arms": 10, "horizon": 200})
assert result.regret["ETC"][:, -1].mean() < 0.6 * result.regret["all"][:, -1].mean()
print("found by name")
"""


@pytest.mark.long
def test_an_agent_of_an_installed_package_is_found_by_name(tmp_path):
    example, target = CHECKOUT / "examples" / "custom_agent_package", tmp_path / "site"
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet")
    succeed(sys.executable, "-m", "pip", "install", *offline, "--target", target, example, cwd=tmp_path)
    paths = os.pathsep.join(map(str, (target, CHECKOUT)))
    said = succeed(sys.executable, "-W", "error", "-c", USE, cwd=tmp_path, PYTHONPATH=paths)
    assert said.strip() == "found by name"
