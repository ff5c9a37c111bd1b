"""Kernels over points, and their covariances."""
