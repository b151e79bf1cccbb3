"""What is learnt from a release: its cells, rows shown like them, and how well models do."""
