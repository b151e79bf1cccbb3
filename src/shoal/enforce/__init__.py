"""Promises kept by any partition: constraints, repair, coarsening, refinement."""
