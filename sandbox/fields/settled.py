"""Times of ownership stand still where nothing else moves."""

from __future__ import annotations

from sandbox.fields.updates import without_managed_fields
from sandbox.json import JSON, dig


def keep_times_if_unchanged(live: JSON, new: JSON) -> JSON:
    """Return `new` with the times of `live`'s managedFields where it differs in nothing else.

    The server does so when it stores an update, after defaults and strategies: writes that change
    nothing then are no new version.
    """
    before = dig(live, "metadata", "managedFields") or []
    after = dig(new, "metadata", "managedFields") or []
    if len(before) != len(after) or not after or before == after:
        return new
    if any(_timeless(one) != _timeless(other) for one, other in zip(before, after, strict=True)):
        return new
    if without_managed_fields(live) != without_managed_fields(new):
        return new
    return {**new, "metadata": {**new["metadata"], "managedFields": before}}


def _timeless(entry: JSON) -> JSON:
    return {name: value for name, value in entry.items() if name != "time"}
