"""Slow, obvious twins of the methods, in plain Python, to be read beside the papers and compared with the kernels.

A table is a list of rows, a row a list of values, None where one is missing. A column is described by

* ``("line", span)``: numbers, or the ranks of an ordinal column, and the width of the column over the whole table;
* ``("tree", hierarchy)``: leaves of a `Hierarchy`.

A twin returns one label per row. The twins share no code with `shoal.methods` and `shoal.kernels`, and of a
`Hierarchy` they use no more than the path from a node to the root and the left-to-right order of the leaves.
"""
