"""Wire and file shapes, one a file."""
