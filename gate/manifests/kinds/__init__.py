"""The kinds that a manifest holds: a module for each workload that is judged, a table of others."""

__all__ = ["kind", "registry", "rules"]
