"""Named algorithms, one module per paper or family."""
