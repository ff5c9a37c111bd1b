"""Restarts: rules for starting over after changes."""
