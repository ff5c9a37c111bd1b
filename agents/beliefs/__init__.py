"""Beliefs: what is known of a function, given how pending feedback is treated."""
