"""Recipes: a request in a file."""
