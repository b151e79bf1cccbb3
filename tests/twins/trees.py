"""What the twins need to know of a tree."""


def climb(tree, low, high):
    """h(low, high): the number of edges from a node up to one of its ancestors."""
    return tree.path(low).index(high)


def meet(tree, nodes):
    """LCA: the first node on the way from one of them to the root that is on the way of all of them."""
    paths = [tree.path(node) for node in nodes]
    return next(node for node in paths[0] if all(node in path for path in paths))


def leaves_below(tree, node):
    """The leaves under a node, left to right; a leaf is under itself."""
    return [leaf for leaf in tree.leaves if node in tree.path(leaf)]


def child_above(tree, node, leaf):
    """The child of a node through which a leaf hangs on it."""
    path = tree.path(leaf)
    return path[path.index(node) - 1]
