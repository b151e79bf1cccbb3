"""Releases in databases: how each kind holds one, in one transaction, and what it may hold beside it."""
