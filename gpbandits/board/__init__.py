"""A page on this machine that shows a study while it runs."""
