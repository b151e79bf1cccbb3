"""Who hides with whom: one file per algorithm."""
