"""Tables as data frames, comma-separated values, Markdown and LaTeX."""

import csv
import io

from synthetic import result

TABLE = result(labels=("50 % & more_", "a|b", "random"), privileged={"a|b"}).table()


def test_every_format_has_all_cells_in_their_order():
    cells = [list(TABLE.header), *map(list, TABLE.rows)]
    frame = TABLE.to_frame()
    assert [list(frame.columns), *frame.to_numpy().tolist()] == cells
    plain = [[cell.removeprefix("'") for cell in row] for row in csv.reader(io.StringIO(TABLE.to_csv()))]
    assert plain == cells  # a spreadsheet would run +1.5 as a formula
    header, rule, *lines = TABLE.to_markdown().splitlines()
    assert header == f"| {' | '.join(TABLE.header)} |"
    assert rule.count("---") == len(TABLE.header)
    assert lines[1].startswith("| a&#124;b† | ")
    assert TABLE.notes[-1] in lines[-1]


def test_latex_has_a_line_an_agent_and_escapes_what_is_special():
    text = TABLE.to_latex()
    assert text.count(r" \\") == 1 + len(TABLE.rows)
    assert r"50 \% \& more\_ & " in text
    assert r"a$|$b$^\dagger$ & " in text
