"""Loops of measures."""
