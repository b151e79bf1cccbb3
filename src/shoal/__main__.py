"""`python -m shoal` is the same command as `shoal`."""

from shoal.cli import main

main()
