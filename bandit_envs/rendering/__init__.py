"""Draw pictures of a trial."""
