"""Kernels of the checker and of the measures; those of the methods are not used here."""
