"""A scripted kubelet and scheduler: pods behave as an annotation of their template asks.

It speaks only the Kubernetes API and knows nothing of tests or of the gate, so that any API server
with Deployments can be given pods by it. `behaviour` has the annotation's grammar.
"""
