"""The agent for real problems: a learnt model, a rule for the rounds that are left, and models of costs."""
