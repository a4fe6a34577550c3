"""The controllers: what makes of Deployments ReplicaSets and of those pods, and clears up after."""
