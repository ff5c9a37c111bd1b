"""Models: what an agent assumes, and what it learns of that."""
