"""A release as its holder and its readers have it: one object, read and written, whole, in parts, in a database."""
