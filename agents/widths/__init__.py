"""Widths: the multiplier of the posterior standard deviation."""
