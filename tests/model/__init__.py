"""The model check: a breadth-first search over the real core and a small model cluster.

`python -m tests.model` runs it; docs/model.md says what is modelled, and what is not.
"""
