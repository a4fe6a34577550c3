"""rollout-gate: apply a manifest, follow and judge the rollout, return to what served before."""

__version__ = "0.1.0"
