"""The named algorithms, one module a paper or a family."""
