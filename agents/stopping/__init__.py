"""When to stop: rules that say that no further play is worth its price, or that the best is known."""
