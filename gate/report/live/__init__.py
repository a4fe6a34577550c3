"""The live tree: what a rollout looks like now, as a value, and that value as lines of a terminal.

`view` and its makers are pure; `rendering` alone knows rich, and is imported where a tree is shown.
"""

__all__ = ["attempts", "canvas", "rendering", "view"]
