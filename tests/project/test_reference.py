"""The reference has an entry for everything public, made from the registries and `__all__` alone."""

import importlib
import pkgutil
import re
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
import typer
from agent_cases import of_each_shape

import agents
import bandit_envs
import gpbandits
from agents.registry import by_attribute, resolve_agent
from agents.registry import names as agent_names
from bandit_envs.data.files import find
from bandit_envs.environment.registration import IDS
from bandit_envs.problems import FACTORIES, build, data_files, keywords_of
from gpbandits import evaluate
from gpbandits.commands import app
from gpbandits.report.film import FilmedTrial, scenes
from gpbandits.theory.overlays import BOUNDS

PACKAGES = (agents, bandit_envs, gpbandits)
pytest.importorskip("sphinx", reason="needs the extra `docs`")
sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
from docstrings import as_rst  # noqa: E402
from entries import NOTATION, entries, example, facts, key  # noqa: E402
from mathml import as_mathml  # noqa: E402
from parts import PARTS, built, laws_by_kind  # noqa: E402
from pictures import FILM, SHOWN, portrait  # noqa: E402
from public import own_agents, place  # noqa: E402
from reference import agents_for, pages  # noqa: E402


@pytest.fixture(scope="module")
def inventory(site):
    """The names of the inventory, by what they are."""
    from sphinx.util.inventory import InventoryFile

    loaded = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    return {kind: set(names) for kind, names in loaded.data.items()}


def python_names(inventory):
    return {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}


@pytest.mark.long
@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_package_and_what_it_exports_is_in_the_inventory(inventory, package):
    folders = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    rooms = [package, *(importlib.import_module(found.name) for found in folders if found.ispkg)]
    made = {f"{r.__name__}.{name}": getattr(r, name) for r in rooms for name in getattr(r, "__all__", ())}
    names = {name for name, each in made.items() if not isinstance(each, ModuleType)}
    assert (names | {room.__name__ for room in rooms[1:]}) - python_names(inventory) == set()


@pytest.mark.long
def test_every_environment_agent_part_law_and_command_is_in_the_inventory(inventory):
    own = {name for name in agent_names() if resolve_agent(name).make.__module__.startswith("agents.")}
    parts = {f"{kind}: {name}" for kind, made in {**PARTS, **laws_by_kind()}.items() for name in made}
    commands = {f"gpbandits {name}" for name in typer.main.get_command(app).commands}
    for kind, names in {"environment": set(IDS), "agent": own, "part": parts, "command": commands}.items():
        assert len(names) > 5
        assert names - inventory[f"std:{kind}"] == set()


@pytest.mark.long
def test_every_factory_is_documented_with_its_signature(inventory):
    factories = [*FACTORIES.values(), *(resolve_agent(name).make for name in by_attribute().values())]
    own = {place(made) for made in factories if made.__module__.startswith(("agents.", "bandit_envs."))}
    assert own - inventory["py:function"] - inventory["py:class"] == set()


def test_a_name_of_ours_in_a_docstring_is_a_link():
    assert as_rst(["by `evaluate` s"]) == ["by :py:obj:`evaluate <gpbandits.evaluate>` s"]
    assert as_rst(["by `gp-ucb`s"]) == [r"by :agent:`gp-ucb`\ s"]


def test_a_page_named_in_a_docstring_is_there_and_is_linked():
    assert as_rst(["Info: see docs/environments.md."]) == [
        "Info: see :doc:`the page on environments </environments>`."
    ]
    root = Path(__file__).parents[2]
    files = [path for package in PACKAGES for path in (root / package.__name__).rglob("*.py")]
    named = {name for path in files for name in re.findall(r"docs/[\w/]+\.md", path.read_text("utf-8"))}
    assert len(named) > 5
    assert [name for name in named if not (root / name).exists()] == []


@pytest.mark.long
def test_no_page_of_the_reference_names_a_source_file_or_links_what_is_no_page(site):
    for path in (site / "generated").glob("*.html"):
        html = path.read_text(encoding="utf-8")
        assert re.findall(r"docs/\w+\.md", html) == [], path.name
        schemes = set(re.findall(r'href="(\w+):', html))
        assert schemes <= {"http", "https", "mailto"}, path.name


@pytest.mark.long
def test_every_part_names_the_documented_classes_that_it_is_made_of(inventory):
    documented = python_names(inventory)
    for kind in (*PARTS.values(), *laws_by_kind().values()):
        for name, part in kind.items():
            assert built(part), name
            assert {place(each) for each in built(part)} <= documented, name


@pytest.mark.parametrize(
    ("env_id", "titles"),
    [
        ("GPBandit-PiecewiseStationary-v0", [f"segment {i} of 4" for i in (1, 2, 3, 4)]),
        ("GPBandit-Contextual-v0", [f"context {i} of 10" for i in (1, 4, 7, 10)]),
        ("GPBandit-GP-v0", [""]),
    ],
)
def test_the_picture_of_an_environment_has_a_panel_with_plays_for_each_part(env_id, titles):
    panels = portrait(env_id).axes
    assert [axes.get_title() for axes in panels] == titles
    for axes in panels:
        plays = [len(line.get_xdata()) for line in axes.lines if line.get_label() in ("observed", "pending")]
        assert sum(plays) == SHOWN
    curves = {tuple(axes.lines[0].get_ydata()) for axes in panels}
    assert len(curves) == len(panels)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in FACTORIES if all(map(find, data_files(name)))])
@pytest.mark.filterwarnings("ignore")  # of agents that another suits better
def test_the_agents_of_an_environment_can_be_made_and_their_comparison_runs(name):
    setting = build(name, {}).setting()
    best, handling = agents_for(setting)
    for agent in handling:
        with suppress(ModuleNotFoundError):  # of another library
            resolve_agent(agent)(setting)
    assert len(best) == 3
    short = {"horizon": 5} if "horizon" in keywords_of(name) else {}
    assert evaluate(build(name, short), best, trials=1).agents == best


def test_the_film_of_the_front_begins_without_the_optimum_and_finds_it():
    seed, count, start, keywords = (FILM[name] for name in ("seed", "count", "start", "env_kwargs"))
    shown = scenes(FilmedTrial("GPBandit-GP-v0", seed, count, keywords, start - 1), "gp-ucb")
    assert shown[0].total == 2
    assert shown[0].regrets.min() > 1.0
    assert shown[-1].regrets[-5:].max() < 0.2


# --- entries of agents ---

LIBRARIES = {"agents.rl", "agents.optimisers"}


def test_what_is_assumed_and_proved_is_said_of_every_registered_algorithm_and_of_no_other():
    assert set(facts()) == {key(name) for name in own_agents()}
    assert all(fact["assumes"] and fact["bound"] for fact in facts().values())


def test_every_algorithm_of_ours_has_a_formula_and_all_its_options():
    said = dict(entries())
    for name in own_agents():
        made = resolve_agent(name).make
        is_ours = made.__module__.rpartition(".")[0] not in LIBRARIES
        assert (".. math::" in said[name]) == is_ours, name
        options = set(getattr(made, "__kwdefaults__", None) or {}) - {"num_trials"}
        assert [option for option in options if f"``{option}=" not in said[name]] == [], name


def test_every_formula_of_the_entries_is_written_as_mathml():
    formulas = [fact["formula"] for fact in facts().values() if "formula" in fact]
    formulas += re.findall(":math:`([^`]*)`", NOTATION)
    assert all(as_mathml(formula, "block").startswith("<math") for formula in formulas)


def test_a_command_without_mathml_is_an_error_and_not_printed():
    with pytest.raises(ValueError, match="no MathML for a command of the formula"):
        as_mathml(r"\unheardof{x}", "inline")


@pytest.mark.parametrize("name", of_each_shape(own_agents()))
def test_the_example_of_an_entry_runs(name):
    if resolve_agent(name).missing:
        pytest.skip("needs a package")
    assert "random" in str(eval(example(name), {"evaluate": evaluate}))


@pytest.mark.parametrize("name", [name for name, bound in BOUNDS.items() if "probability" in bound.assumes])
def test_bounds_of_agents_are_named_where_the_agent_is(name):
    assert any(f"`{name}`" in fact["bound"] for fact in facts().values())


@pytest.mark.long
def test_every_page_of_the_reference_can_be_made():
    made = pages()
    assert {"environments", "agents-by-name", "parts", "commands", "gpbandits", "agents"} <= set(made)
    assert all(page.count("\n") > 4 for page in made.values())
    assert [env_id for env_id in IDS if f"<{env_id}>" not in made["environments"]] == []
