"""Posteriors that forget plays, or count old ones for less."""
