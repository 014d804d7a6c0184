"""History processors that ship with Elision, one a file."""
