"""Tests of rollout-gate: `unit` is fast, `e2e` runs on the real control plane of `cluster`."""
