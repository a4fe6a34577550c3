"""Recovery after a gate that died: what its record still asks for, as a plan for the machine."""

__all__ = [
    "gone_namespaces",
    "object_state",
    "reasons",
    "replaced_objects",
    "resumption",
    "returned_otherwise",
    "rewritten_version",
]
