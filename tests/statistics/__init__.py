"""Simulates what the comparison by counts promises: `make statistics`."""
