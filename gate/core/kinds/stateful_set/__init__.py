"""StatefulSets: ordered pods with identities, their versions kept by ControllerRevisions."""

__all__ = ["kind", "objects", "reasons"]
