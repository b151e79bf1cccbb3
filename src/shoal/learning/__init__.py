"""What can be learnt from a table: a decision tree, and how often it is right before and after a release."""
