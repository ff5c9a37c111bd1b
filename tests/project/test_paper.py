"""The paper has what its journal demands, cites what it lists, and its figure is made by a command."""

import re
import runpy
from pathlib import Path

import pytest
import yaml

PAPER = Path(__file__).parents[2] / "paper"
_, FRONT, TEXT = (PAPER / "paper.md").read_text(encoding="utf-8").split("---\n", 2)
BIBLIOGRAPHY = (PAPER / "paper.bib").read_text(encoding="utf-8")
ENTRIES = dict(re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", BIBLIOGRAPHY, re.DOTALL | re.MULTILINE))
# Of the journal's format since 2026; a paper has 750 to 1,750 words.
SECTIONS = (
    *("Summary", "Statement of need", "State of the field", "Software design", "Research impact statement"),
    *("AI usage disclosure", "Acknowledgements", "References"),
)


def test_it_has_every_section_in_order_and_the_length_that_is_asked():
    assert tuple(re.findall("^# (.+)$", TEXT, re.MULTILINE)) == SECTIONS
    assert 750 <= len(TEXT.split()) <= 1750


def test_its_head_is_that_of_the_journal_and_names_nobody_yet():
    head = yaml.safe_load(FRONT)
    assert set(head) == {"title", "tags", "authors", "affiliations", "date", "bibliography"}
    assert (PAPER / head["bibliography"]).is_file()
    for author in head["authors"]:
        assert set(author) == {"name", "orcid", "affiliation"}
        assert author["orcid"] == "FILL-IN" or re.fullmatch(r"(\d{4}-){3}\d{3}[\dX]", author["orcid"])
        assert author["affiliation"] in {each["index"] for each in head["affiliations"]}


def test_every_reference_is_cited_and_every_citation_has_its_reference():
    assert set(re.findall(r"@(\w+)", TEXT)) == set(ENTRIES)
    for key, body in ENTRIES.items():
        assert {"author", "title", "year"} <= set(re.findall(r"^  (\w+) = \{", body, re.MULTILINE)), key
        for doi in re.findall(r"doi = \{(.+)\}", body):
            assert re.fullmatch(r"10\.\d{4,9}/[\w.()/:-]+", doi), doi
            arxiv = re.fullmatch(r"10\.48550/arXiv\.(\d\d)(\d\d)\.\d{4,5}", doi)
            assert arxiv is None or int(arxiv[2]) in range(1, 13), doi


@pytest.mark.long
def test_the_figure_is_made_by_its_command(tmp_path):
    runpy.run_path(str(PAPER / "figure.py"))["main"](tmp_path)
    assert (tmp_path / "figure.png").stat().st_size > 20_000
    assert "](figure.png)" in TEXT
