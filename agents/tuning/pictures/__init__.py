"""Figures of a tuner: no number of an experiment depends on them."""
