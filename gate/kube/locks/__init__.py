"""Locks, and what is kept beside them: Leases and Secrets."""

__all__ = ["kept_secrets", "lease", "verified_secrets"]
