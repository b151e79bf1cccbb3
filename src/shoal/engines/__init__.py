"""The same path over blocks of a table: in one process, on all cores, on disk, on a cluster."""
