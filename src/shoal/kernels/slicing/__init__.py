"""Kernels of slicing."""
