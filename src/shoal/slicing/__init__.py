"""Slicing: which attributes stay together, which rows share a bucket, attributes in several slices."""
