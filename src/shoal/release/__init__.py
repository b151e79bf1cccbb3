"""What a release is: its manifest, the holder's receipt, its files, and what it can answer."""
