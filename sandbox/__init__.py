"""A Kubernetes cluster in one process: API server, controllers and a scripted kubelet.

It shares no code with the judge: what it plays would otherwise prove nothing.
"""
