"""The checker: whether a release, any table or a series keeps its promise. It shares no code with what makes them."""
