"""Kernels that keep promises."""
