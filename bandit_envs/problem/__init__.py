"""Problems: laws composed, drawn, and simulated."""
