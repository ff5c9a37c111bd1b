"""The directive `csv-table`, with an option `rounded` for files with all digits."""

from __future__ import annotations

import csv
import io
from typing import Any

from docutils.parsers.rst import directives
from sphinx.directives.patches import CSVTable

from gpbandits.report.stored import rounded


class StoredTable(CSVTable):
    """A table from a CSV file; with `:rounded:` numbers have three digits, and an interval is one cell."""

    option_spec = {**CSVTable.option_spec, "rounded": directives.flag}  # noqa: RUF012

    def parse_csv_data_into_rows(self, csv_data: Any, dialect: Any, source: str) -> Any:
        rows = list(csv.reader(csv_data, dialect=dialect))
        shown = rounded(rows) if "rounded" in self.options else rows
        text = io.StringIO()
        csv.writer(text, dialect=dialect).writerows([map(_paragraph, row) for row in shown])
        return super().parse_csv_data_into_rows(text.getvalue().splitlines(), dialect, source)


def _paragraph(cell: str) -> str:
    """Keep a lone dash, which marks what is missing, from being read as the item of a list."""
    return r"\-" if cell == "-" else cell
