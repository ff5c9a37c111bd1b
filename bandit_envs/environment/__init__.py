"""Provide the Gymnasium environments and the function that makes them."""
