"""What reports call each kind of workload, and how a tree shows it: a module for each kind."""

__all__ = ["kind", "registry"]
