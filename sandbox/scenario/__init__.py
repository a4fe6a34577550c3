"""Scenario files: what happens to whom in a sandbox, and when.

`scenario` reads one, `play` lets it happen. A file says which images misbehave from which second
on, what health checks measure, and what others do to the cluster meanwhile.
"""
