"""The judge of one workload's rollout: from what is observed to a verdict."""

__all__ = [
    "applied",
    "baseline",
    "causes",
    "controller_faults",
    "creation_times",
    "early_evidence",
    "fresh_pods",
    "judge",
    "observations",
    "owners",
    "pod_history",
    "pods_before",
    "policy",
    "progress",
    "ruling",
    "snapshot",
    "verdict",
    "workload_kind",
]
