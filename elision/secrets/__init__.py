"""Finding secrets in what tools return: the patterns, names that are given secrets, and options of commands."""
