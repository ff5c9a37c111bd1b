"""Kernels as agents need them: their form, their shape, and their slopes."""
