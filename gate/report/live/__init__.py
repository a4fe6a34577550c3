"""The live tree: what a rollout looks like now, as a value, and that value as lines of a terminal.

`view` and its makers are pure; only `rendering` uses rich, and is imported only to show a tree.
"""

__all__ = ["attempts", "canvas", "rendering", "view"]
