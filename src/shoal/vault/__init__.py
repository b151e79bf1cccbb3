"""The trusted server: it keeps the keys of releases, and interprets results for researchers who may ask."""
