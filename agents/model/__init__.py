"""Models: the assumptions of an agent, and those that it learns."""
