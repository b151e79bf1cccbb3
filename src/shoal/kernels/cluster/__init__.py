"""Kernels of the methods."""
