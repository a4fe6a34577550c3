"""Deployments: rolled out by ReplicaSets, which own the pods."""

__all__ = ["kind", "objects", "reasons"]
