"""Kernels that read files."""
