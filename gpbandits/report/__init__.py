"""Reports of what a store holds: one HTML page, figures and tables; nothing here makes numbers of its own."""

from gpbandits.report.write import write_report

__all__ = ["write_report"]
