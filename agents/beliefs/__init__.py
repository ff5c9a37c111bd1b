"""Beliefs: posteriors of functions, with a treatment of pending feedback."""
