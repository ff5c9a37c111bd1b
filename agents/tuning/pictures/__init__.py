"""Figures of a tuner, which change no result."""
