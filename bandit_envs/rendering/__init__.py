"""Pictures of what was played."""
