"""What is written appears whole or not at all: locks, moves that replace nothing unasked, recovery after a crash."""
