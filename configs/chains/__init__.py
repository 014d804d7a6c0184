"""Ready chains; each is a documented example that a test loads."""
