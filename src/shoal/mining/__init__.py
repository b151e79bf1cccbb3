"""What can be found in a release: rules over its cells."""
