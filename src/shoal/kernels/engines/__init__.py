"""Loops of the engines."""
