"""Validation of pods and pod templates (`pkg/apis/core/validation`).

What people get wrong in a Deployment is looked at: containers, their ports, variables, mounts,
probes, hooks and resources, and the volumes. Errors come in the server's order.
"""
