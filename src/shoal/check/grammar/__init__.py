"""Cells of tables that somebody else published."""
