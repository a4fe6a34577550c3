"""Which ControllerRevision the live template of a DaemonSet is.

The controller numbers it before it reports the generation as observed (`constructHistory`,
`updateDaemonSetStatus`), but watches of two kinds have no common order: it, or its new number, may
still be on the way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gate.core.kinds.controller_revision import ControllerRevision, find_newest
from gate.core.kinds.daemon_set.objects import DaemonSet


def find_current_revision(
    live: DaemonSet, revisions: Iterable[ControllerRevision]
) -> ControllerRevision | None:
    """Return the newest revision if it is that of the live template, None before it was seen."""
    if live.observed_generation < live.generation:
        return None
    known = tuple(revisions)
    newest = find_newest(known)
    if newest is None:
        return None
    same = {one.uid for one in known if one.template.body == live.template.body}
    if same:
        return newest if newest.uid in same else None
    return newest if _may_be_of(live, newest) else None


def _may_be_of(live: DaemonSet, newest: ControllerRevision) -> bool:
    """Tell whether a revision may be of the live template although it keeps another one.

    A controller older than the server leaves out fields that it does not know. A revision is born
    with the number that the server had given to the template then; later on its template may have
    come back, or changed only in what such a controller does not see.
    """
    number = newest.template_generation
    if number is None or number == live.template_generation:
        return True
    return _is_part_of(newest.template.body.thaw(), live.template.body.thaw())


def _is_part_of(part: Any, whole: Any) -> bool:
    """Tell whether `whole` has all that `part` has, and perhaps more fields."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and _is_part_of(part[key], whole[key]) for key in part)
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(_is_part_of, part, whole))
    return bool(part == whole)
