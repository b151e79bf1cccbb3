"""What comes in: schema, hierarchies, sources, profiling, and the arrays that kernels see."""
