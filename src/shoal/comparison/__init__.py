"""Many recipes on one table: what each loses, risks and costs, and which to take."""
