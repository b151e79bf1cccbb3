"""What only a trial tells: how much less the same table would lose otherwise."""
