"""Theory is compared with results: bounds on regret and violation, and coverage of confidence bands."""
