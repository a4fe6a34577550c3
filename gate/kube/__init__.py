"""The API server of Kubernetes: the only room that imports the `kubernetes` client.

Adapters: they translate requests, answers and failures, and decide nothing about a rollout.
"""
