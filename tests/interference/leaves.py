"""Objects as flat maps of path to value, and who changed which path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.cluster.kubelet.api import JSON

Path = tuple[str, ...]
Leaves = Mapping[Path, object]

_SERVERS_METADATA = frozenset(
    {
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "managedFields",
        "selfLink",
    }
)
_NOT_CONTENT = frozenset({"apiVersion", "kind", "status"})  # items of a list have no kind
_CONTROLLERS_ANNOTATION = ("metadata", "annotations", "deployment.kubernetes.io/revision")
_EMPTY: tuple[object, ...] = (None, {}, [])


def leaves(body: JSON | None) -> dict[Path, object]:
    """Flatten what people write of an object; lists of named things go by their names.

    Left out are the status, what the server says in the metadata, the deployment controller's
    revision, and what is empty. An object that is not there has no leaves.
    """
    if body is None:
        return {}
    metadata = {k: v for k, v in body["metadata"].items() if k not in _SERVERS_METADATA}
    content = {k: v for k, v in body.items() if k not in _NOT_CONTENT} | {"metadata": metadata}
    flat = dict(_flat((), content))
    flat.pop(_CONTROLLERS_ANNOTATION, None)
    return flat


def _flat(path: Path, value: object) -> Iterator[tuple[Path, object]]:
    if value in _EMPTY:
        return
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _flat((*path, key), each)
    elif isinstance(value, list):
        is_named = all(isinstance(each, dict) and "name" in each for each in value)
        for number, each in enumerate(value):
            yield from _flat((*path, each["name"] if is_named else str(number)), each)
    else:
        yield path, value


def changes(before: Leaves, after: Leaves) -> dict[Path, object]:
    """Return the paths in which two differ, with the later value; None where it is gone."""
    paths = {*before, *after}
    return {path: after.get(path) for path in paths if before.get(path) != after.get(path)}


def changed(base: Leaves, change: Leaves) -> dict[Path, object]:
    """Return `base` with a change made to it."""
    return {path: value for path, value in {**base, **change}.items() if value is not None}


def differences(expected: Leaves, found: Leaves) -> Iterator[str]:
    """Say path by path what differs."""
    for path, value in sorted(changes(expected, found).items()):
        yield f"{'.'.join(path)} is {value!r}, not {expected.get(path)!r}"


def template(flat: Leaves) -> dict[Path, object]:
    """Return the leaves of a Deployment's pod template."""
    return {path: value for path, value in flat.items() if path[:2] == ("spec", "template")}
