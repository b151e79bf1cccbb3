"""What can be asked for by name, and what is known of each without loading it."""
