"""What this machine has: cores, processes, memory, and packages that only some users need."""
