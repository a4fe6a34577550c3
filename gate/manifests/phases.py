"""The annotations by which a manifest says when a Job runs, and what becomes of a failed one.

The one that the gate writes itself may be there too, as in what was read from a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gate.core.model.run_annotations import LOCKS, PHASE, PHASES, PREFIX, REPLACE_FAILED
from gate.manifests.body import value_at
from gate.manifests.manifest import ManifestObject
from gate.manifests.places import place_of
from gate.manifests.source import ManifestError, escape_line

_ALLOWED: Final = {PHASE: tuple(PHASES), REPLACE_FAILED: ("true", "false")}


def refuse_wrong_annotations(objects: Iterable[ManifestObject]) -> None:
    """Raise ManifestError for one that is not known, has another value, or is not on a Job."""
    for item in objects:
        _refuse_unknown(item)
        for name, allowed in _ALLOWED.items():
            value = value_at(item.body, "metadata", "annotations", name)
            if value is not None:
                _refuse_wrong(item, name, value, allowed)


def _refuse_unknown(item: ManifestObject) -> None:
    """Refuse a key with the gate's prefix that means nothing: it would be ignored for ever."""
    annotations = value_at(item.body, "metadata", "annotations")
    for key in annotations if isinstance(annotations, Mapping) else ():
        name = str(key)
        if name.startswith(PREFIX) and name not in (*_ALLOWED, LOCKS):
            problem = f'{item} has the annotation "{escape_line(name, 80)}", which means nothing'
            place = place_of(item, ".metadata.annotations")
            raise ManifestError(place, problem, hint=_correction(name))


def _correction(name: str) -> str:
    """Suggest the key that may be meant, else all that there are."""
    from difflib import get_close_matches

    known = [key.removeprefix(PREFIX) for key in _ALLOWED]
    guess = next(iter(get_close_matches(name.removeprefix(PREFIX), known, n=1)), "")
    return (
        f"did you mean {PREFIX}{guess}?"
        if guess
        else f"with that prefix there is {' and '.join(known)}"
    )


def _refuse_wrong(item: ManifestObject, name: str, value: object, allowed: tuple[str, ...]) -> None:
    place = place_of(item, ".metadata.annotations")
    if item.known_kind is None or not item.known_kind.runs_once:
        problem = f"{item} has the annotation {name}, which is for Jobs alone"
        raise ManifestError(place, problem, hint="take it out")
    if value not in allowed:
        said = escape_line(str(value), 40)
        problem = f'{item} has the annotation {name}: "{said}"'
        raise ManifestError(place, problem, hint=f"it is {' or '.join(allowed)}, in quotes")
