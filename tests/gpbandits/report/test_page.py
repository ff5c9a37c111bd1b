"""The report is one page that a browser shows and that tells everything."""

import dataclasses
import re
import shutil
from html import escape
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from pages import browser, needs_browser
from study_cases import PAIR
from synthetic import result as synthetic_result

from gpbandits.evaluation.columns import undominated
from gpbandits.evaluation.formats import text
from gpbandits.evaluation.measures import METRICS
from gpbandits.evaluation.parquet import read_metadata
from gpbandits.evaluation.result import Result
from gpbandits.evaluation.statistics import Interval
from gpbandits.evaluation.tables import summary
from gpbandits.experiments import run
from gpbandits.experiments.store import keep_study, open_results
from gpbandits.experiments.study import AgentEntry, key_of
from gpbandits.experiments.toml import study_text
from gpbandits.report import write_report
from gpbandits.report.chart import Line, line_chart, padded
from gpbandits.report.holdings import Holdings
from gpbandits.report.page import Report, across
from gpbandits.report.standings import relative_losses


def planned(folder, study=PAIR):
    """What a run of the study begins with."""
    keep_study(folder, study, study_text(study).encode())
    return open_results(folder)


def reported(folder, study=PAIR):
    """A report on what a folder holds of a study, by the installed code."""
    return Report.of(Holdings(*planned(folder, study)), study_text(study), folder)


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """A folder of results that tests copy."""
    folder = tmp_path_factory.mktemp("report") / "out"
    study, store = planned(folder)
    assert run(study, store, workers=1) == []
    return folder


@pytest.fixture
def folder(computed, tmp_path):
    return shutil.copytree(computed, tmp_path / "out")


class Page(HTMLParser):
    """What a page refers to, and whether its elements are closed."""

    VOID = ("meta", "link", "input", "br", "hr", "img")

    def __init__(self, source):
        super().__init__()
        self.open, self.addresses, self.ids = [], [], []
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.addresses += [given[name] for name in ("src", "href") if name in given]
        self.ids += [given["id"]] if "id" in given else []
        self.open += [] if tag in self.VOID else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.long
def test_the_page_is_one_file_that_refers_to_nothing_else(folder):
    source = write_report(folder, figures=False).read_text()
    page = Page(source)
    assert all(address.startswith("#") for address in page.addresses)
    assert {address[1:] for address in page.addresses} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert "@import" not in source
    assert "url(" not in source
    assert "small &amp; &lt;b&gt;safe&lt;/b&gt;" in source


@pytest.mark.long
def test_the_page_shows_numbers_configuration_provenance_and_how_to_run_again(folder):
    source = write_report(folder, figures=False).read_text()
    study, store = open_results(folder)
    result = Holdings(study, store).result(study.environments[0])
    assert result is not None
    mean = text(float(result.regret["random"][:, -1].mean()))
    assert f"<td>{mean}\n[" in source
    assert "n = 4 trials of 30 rounds, seed 0" in source
    assert "gpbandits run out/study.toml --out out" in source
    assert "numpy&nbsp;" in source
    assert "{&#34;horizon&#34;: 30" in source or '{"horizon": 30' in source
    assert "block_size = 2" in source
    assert "not complete" not in source
    assert "other code" not in source


def test_every_view_is_a_well_formed_drawing_of_every_agent(folder):
    source = write_report(folder, figures=False).read_text()
    profiles, *others = re.findall(r"<svg viewBox=\"0 0 480.*?</svg>", source, re.S)
    assert "Performance profiles" in profiles
    assert len(others) == 2 * 3 + 2 * (len(METRICS) - 1)  # there is no budget
    drawings = re.findall(
        r"<figure data-metric=\"([\w-]+)\" data-scale=\"([\w-]+)\".*?(<svg.*?</svg>)", source, re.S
    )
    assert len(drawings) == len(others)
    for metric, _, svg in drawings:
        root = ElementTree.fromstring(svg)
        lines = [path for path in root.iter() if path.get("class", "").startswith("line")]
        assert [path.get("data-agent") for path in lines] == ["0", "1"], metric
        coordinates = [float(part) for path in lines for part in re.findall(r"-?\d+\.\d+", path.get("d", ""))]
        assert min(coordinates) >= 0
        assert max(coordinates) <= 480


def test_an_incomplete_folder_is_reported_as_far_as_it_is(folder):
    study, store = open_results(folder)
    first, second = study.environments
    ucb, random = study.agents
    store.path(study.cells_of(first, ucb)[1]).unlink()
    for cell in study.cells_of(second, random):
        store.path(cell).unlink()
    store.failure_path(study.cells_of(second, random)[0]).write_text("Traceback: it raised")
    report = reported(folder)
    assert report.holdings.missing == 3
    assert report.missing is not None
    assert report.missing.rows == (
        ("GP: <i>", "GP-UCB", 2, 0, 2, 4),
        ("GP: <i>", "random", 4, 0, 2, 4),
        ("Constrained", "random", 0, 2, 0, 4),
    )
    shown = {section.environment.label: section.result for section in report.sections}
    assert shown["GP: <i>"].agents == ["GP-UCB", "random"]
    assert shown["GP: <i>"].num_trials == 2
    assert shown["Constrained"].agents == ["GP-UCB"]
    assert shown["Constrained"].num_trials == 4
    source = write_report(folder, figures=False).read_text()
    assert "This study is not complete" in source
    assert "3 of its cells are not computed, 1 because computing them failed" in source
    assert source.index("This study is not complete") < source.index("<main>")


def test_one_agent_far_behind_does_not_hide_the_others_trials(folder):
    whole = dataclasses.replace(PAIR, agents=(*PAIR.agents, AgentEntry("gp-ts", "gp-ts")))
    study, store = planned(folder, whole)
    run(dataclasses.replace(study, trials=2), store, workers=1)
    holdings = Holdings(study, store)
    result = holdings.result(study.environments[0])
    assert result is not None
    assert (result.agents, result.num_trials) == (["GP-UCB", "random"], 4)  # 2 x 4 rather than 3 x 2


def test_cells_of_older_code_are_reported_and_said_to_be(folder, monkeypatch):
    before = reported(folder)
    assert before.holdings.outdated == 0
    monkeypatch.setattr("gpbandits.experiments.study.sources", lambda environment, agent: {"agents": "newer"})
    after = reported(folder)
    assert after.holdings.outdated == 8
    assert after.missing is None
    for old, new in zip(before.sections, after.sections, strict=True):
        np.testing.assert_array_equal(old.result.regret["random"], new.result.regret["random"])
    assert "8 cells were computed by other code" in after.html()


@pytest.mark.long
def test_two_folders_whose_cells_conflict_are_told_with_both_files_and_the_cell(
    folder, tmp_path, monkeypatch
):
    """Another version has computed other numbers; its files are linked into the folder of the first."""
    study, store = open_results(folder)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert Holdings(study, store).conflicts == []
    for cell in study.cells():
        path, metadata = store.path(cell), read_metadata(store.path(cell))
        metadata["configuration"] = metadata["configuration"] | {"sources": {"agents": "other"}}
        found = Result.load(path)
        changed = cell.agent.label == "random"
        records = {x: y._replace(regret=y.regret + 0.5 * changed) for x, y in found.records.items()}
        name = f"{key_of(metadata['configuration'])}.parquet"
        dataclasses.replace(found, records=records).save(elsewhere / name, metadata)
        (store.folder / name).symlink_to(elsewhere / name)
    assert Holdings(*open_results(folder)).conflicts == []  # the code of the store computed all, and decides
    monkeypatch.setattr(
        "gpbandits.experiments.study.sources", lambda environment, agent: {"agents": "newest"}
    )
    report = reported(folder)
    lines = report.holdings.conflicts
    assert len(lines) == sum(cell.agent.label == "random" for cell in study.cells())
    for line in lines:
        assert line.startswith("random on ")
        assert str(elsewhere) in line
        assert str(store.folder.resolve()) in line
        assert escape(line) in report.html()


@pytest.mark.long
def test_environments_together_are_scored_against_a_random_agent_or_not_at_all(folder):
    report = reported(folder)
    (together,) = report.across
    assert [grid.name for grid in together.tables] == ["overall", "improvement"]
    best, other = together.standings.agents
    losses = [section.result for section in report.sections]
    wins = [
        np.mean(relative_losses(res, "random")[other] < relative_losses(res, "random")[best])
        for res in losses
    ]
    ((label, against),) = together.standings.improvement().rows
    assert label == other
    assert isinstance(against, Interval)
    assert against.estimate == pytest.approx(np.mean(wins))
    write_report(folder, figures=False)
    assert (folder / "tables" / "across-overall.csv").exists()
    assert (folder / "tables" / "environments.csv").exists()
    assert report.overview is not None
    lines = ["GP: <i>", "Constrained: hard violation", "Constrained: regret"]
    assert [row[0] for row in report.overview.rows] == lines
    assert report.html().count('<td class="best">') == len(report.overview.bold)
    alone = reported(folder, dataclasses.replace(PAIR, agents=PAIR.agents[:1]))
    assert alone.across == []
    assert "need a fixed reference" in alone.html()
    assert "need a fixed reference" not in report.html()


def test_tracks_share_neither_a_section_nor_scores():
    labels = ("scratch", "trained", "random")
    tracks = {"scratch": "from scratch", "trained": "pretrained"}
    results = [
        dataclasses.replace(synthetic_result(labels=labels), environment=name, tracks=tracks) for name in "ab"
    ]
    numbers = {label: number for number, label in enumerate(labels)}
    sections = across(results, numbers, "random")
    assert [section.name for section in sections] == ["across-from-scratch", "across-pretrained"]
    assert [set(section.standings.agents) for section in sections] == [
        {"scratch", "random"}, {"trained", "random"}
    ]  # fmt: skip
    assert sections[1].legend[0] == (1, "trained‡")
    assert across(results[:1], numbers, "random") == []
    assert across(results, numbers, "nobody") == []


def test_agents_that_pay_with_violation_do_not_lead_a_summary():
    res = synthetic_result(num_constraints=1)  # regret is least for GP-UCB, then GP-TS

    def violating_by(**costs):
        records = {
            label: each._replace(
                cost=np.full_like(each.cost, cost), violation=np.full_like(each.violation, cost)
            )
            for (label, each), cost in zip(res.records.items(), costs.values(), strict=True)
        }
        return dataclasses.replace(res, records=records)

    violating = violating_by(ucb=3.0, ts=1.0, random=2.0)
    assert undominated(violating) == ["GP-UCB", "GP-TS"]  # random has more of both than GP-TS
    table = summary(violating)
    assert [(row[0], row[4]) for row in table.rows] == [("GP-TS", "yes"), ("random", "no"), ("GP-UCB", "yes")]
    assert table.header[:5] == (
        "agent", "hard violation", "regret", "average violation", "undominated",
    )  # fmt: skip
    assert "read together" in " ".join(table.notes)
    swapped = summary(violating_by(ucb=1.0, ts=2.0, random=0.5))
    assert [row[0] for row in swapped.rows] == ["random", "GP-UCB", "GP-TS"]


def test_a_folder_without_study_or_cells_is_one_clear_error(tmp_path):
    with pytest.raises(ValueError, match=r"must hold the plan\.json"):
        write_report(tmp_path)
    assert planned(tmp_path)[0].trials == 4
    with pytest.raises(ValueError, match="at least one computed cell"):
        write_report(tmp_path)


def test_the_values_that_a_chart_tells_are_those_of_the_curves():
    low, high = np.array([0.5, 1.5]), np.array([2.0, np.pi])
    lines = [Line(0, "a", np.array([1.0, 10.0]), np.array([1.0, 2.5]), low, high)]
    root = ElementTree.fromstring(line_chart(lines, "linear", "t", "round", "regret"))
    assert (root.get("data-name"), root.get("data-x")) == ("round", "1 10")
    (line,) = (path for path in root.iter() if path.get("class", "").startswith("line"))
    assert line.get("data-values") == "1.00 0.500 2.00,2.50 1.50 3.14"


def test_axes_have_room_for_what_they_show():
    values = np.array([-2.0, 0.0, 8.0, np.nan])
    linear = padded(values, False, 0, 1)
    assert (linear.low, linear.high) == (-2.5, 8.5)
    log = padded(values, True, 0, 1)
    assert log.low < 8 < log.high
    assert log.low > 0
    assert padded(np.array([-1.0]), True, 0, 1).low > 0  # nothing that a logarithm could show
    assert padded(np.zeros(3), False, 0, 1).high > 0


@pytest.mark.long
@needs_browser
@pytest.mark.parametrize("width", [1200, 390])
def test_a_browser_shows_the_chosen_view_and_nothing_is_wider_than_the_screen(folder, width):
    write_report(folder, figures=False)
    with browser(folder / "profile", width) as opened:
        opened.get((folder / "report.html").as_uri())
        look_at(opened, opened.find_element("id", "Constrained"))
        assert opened.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def look_at(opened, section):
    run = opened.execute_script

    def shown():
        drawn = [
            figure for figure in section.find_elements("css selector", "figure") if figure.is_displayed()
        ]
        return [(each.get_attribute("data-metric"), each.get_attribute("data-scale")) for each in drawn]

    def place(part):
        return run("return arguments[0].querySelector('output').firstChild.textContent", part)

    def press(key):
        run("arguments[0].dispatchEvent(new KeyboardEvent('keydown', {key: arguments[1]}))", svg, key)
        return place(section)

    assert shown() == [("regret", "linear")]
    section.find_element("css selector", "option[value=average_hard_violation]").click()
    run("arguments[0].click()", section.find_element("css selector", "input[value=log-log]"))
    assert shown() == [("average_hard_violation", "log-log")]
    button = section.find_element("css selector", ".legend button[data-agent='1']")
    run("arguments[0].click()", button)
    assert button.get_attribute("aria-pressed") == "false"
    line = section.find_element("css selector", "figure .line[data-agent='1']")
    assert run("return arguments[0].style.display", line) == "none"
    assert place(opened.find_element("id", "across")) == "score τ 0.5"
    svg = section.find_element("css selector", "figure:not([hidden]) svg")
    at = "{clientX: box.left, clientY: box.top}"
    moved = f"arguments[0].dispatchEvent(new PointerEvent('pointermove', {at}))"
    run(f"const box = arguments[0].getBoundingClientRect(); {moved}", svg)
    assert [place(section), press("End"), press("ArrowLeft")] == ["round 1", "round 30", "round 29"]
    values = svg.find_element("css selector", ".line[data-agent='0']").get_attribute("data-values")
    mean, low, high = values.split(",")[-2].split(" ")
    assert (
        section.find_element("css selector", ".legend [data-agent='0'] .value").text
        == f"{mean} [{low}, {high}]"
    )
