"""Acquisition: rules that score points, and incumbents."""
