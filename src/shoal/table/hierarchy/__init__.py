"""Trees over the values of a column, given or built by a rule."""
