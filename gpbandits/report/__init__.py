"""A report shows the results in a store as one HTML page, figures and tables; it runs no trials."""

from gpbandits.report.page import write_report

__all__ = ["write_report"]
