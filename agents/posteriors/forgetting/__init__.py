"""Posteriors that forget plays, or give old ones less weight."""
