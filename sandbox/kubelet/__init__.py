"""A scripted kubelet and scheduler: pods behave as an annotation or a scenario asks.

`behaviour` has the grammar, `scripts` what follows from it, `workers` plays the pods. All of that
is pure: `kubelet` plays it against this sandbox, and another driver can play the same scripts
against a real API server.
"""
