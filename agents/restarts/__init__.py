"""Restarts: when an agent starts over."""
