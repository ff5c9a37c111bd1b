"""Assemble agents from parts: on arms and on boxes, for one trial or a batch."""
