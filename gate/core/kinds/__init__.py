"""The kinds of workload that are judged, a package each, and the registry of them."""

__all__ = [
    "check_variables",
    "configuration",
    "controller_revision",
    "daemon_set",
    "deployment",
    "job",
    "registry",
    "stateful_set",
]
