"""How each watched kind is read: a module for each workload with its children, pods, Events."""

__all__ = ["registry"]
