"""Trees of boxes around rows: which is nearest, which is farthest, without looking at all of them."""
