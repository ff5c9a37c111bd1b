"""Acquisition: what makes a point worth playing."""
