"""The Gymnasium environments, and how they are made."""
