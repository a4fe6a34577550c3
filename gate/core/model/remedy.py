"""What helps where nothing goes on by itself."""

from __future__ import annotations

import enum


class Remedy(enum.StrEnum):
    """What it takes for pods to be replaced, for something to serve, or to run once more."""

    NONE = ""
    """Nothing that is known."""
    REPLACE_POD = "replace-pod"
    """The controller waits for a pod, and goes on once anybody, or an apply, has removed it."""
    DELETE_POD = "delete-pod"
    """A person has to delete it: it comes back at the version that is wanted."""
    LOWER_PARTITION = "lower-partition"
    """Below the partition it comes back at the version that it has, whoever deletes it."""
    UNDO = "undo"
    """An undo goes to another version, where what served before does not serve again, or where
    something speaks against what a pause holds."""
    RUN_AGAIN = "run-again"
    """What runs once gets another name at each apply, which so runs it again."""
    REPLACE = "replace"
    """What runs once is deleted by the next apply, which runs it again, as it is marked so."""
    RENAME = "rename"
    """What runs once has a fixed name, and never runs again under it while it is there."""
