"""Every system call of every command that writes, failing once: `make faults`."""
