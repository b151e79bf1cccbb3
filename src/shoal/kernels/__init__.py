"""Compiled loops: arrays in, arrays out; nothing here knows a table, a schema or a method."""
