"""DaemonSets: a pod on each node, rolled out node by node, with ControllerRevisions."""

__all__ = ["kind", "objects", "reasons"]
