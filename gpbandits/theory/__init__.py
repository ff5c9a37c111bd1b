"""Theory beside results: regret bounds, bounds on violation, and coverage of bands."""
