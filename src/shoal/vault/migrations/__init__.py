"""The tables of a vault, version by version."""
