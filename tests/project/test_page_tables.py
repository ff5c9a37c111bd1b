"""The tables that hand-written pages include are those of the stored results."""

import pytest
from pages import loaded, source

from gpbandits.report.stored import read_cells

tool = loaded("tools/page_tables.py")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("page", tool.PAGES)
def test_the_tables_of_a_page_are_those_of_its_results(page):
    found = dict(tool.PAGES[page]())
    for name, lines in found.items():
        file = tool.RESULTS / f"{name}.csv"
        assert tool.with_heading(lines, file) == read_cells(file), name
        assert f":file: results/{name}.csv\n" in source(f"{page}.md"), name
    assert found


def test_a_heading_is_that_of_the_file(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("agent,regret\nold,1\n")
    for lines in (["| new | 2 |"], ["| x | y |", "|---|---|", "| new | 2 |"]):
        assert tool.with_heading(lines, file) == [["agent", "regret"], ["new", "2"]]
