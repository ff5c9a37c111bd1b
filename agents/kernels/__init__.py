"""Kernels of agents: their form, their shape, and their derivatives."""
