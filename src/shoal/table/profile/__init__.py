"""What a table that nobody described looks like: roles, kinds, patterns."""
