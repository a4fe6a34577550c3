"""The judge of one Deployment's rollout: from what is observed to a verdict."""

__all__ = [
    "applied",
    "baseline",
    "causes",
    "completion",
    "judge",
    "observations",
    "owners",
    "pod_history",
    "policy",
    "progress",
    "ruling",
    "snapshot",
    "verdict",
]
