"""What is shown while work goes on, and what objects show of themselves in a notebook."""
