"""Health checks as they are configured: the keys of a file, the forms of flags, and back."""
