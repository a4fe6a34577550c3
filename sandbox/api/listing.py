"""List and watch: all that is there now, and every change from a version on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sandbox.api.registry import Registry
from sandbox.failure import bad_request, not_served
from sandbox.json import JSON
from sandbox.kinds import BY_KEY, Resource
from sandbox.objects.decoding import Decoder, root_of
from sandbox.storage.selection import Selection
from sandbox.storage.store import number_of_version
from sandbox.storage.watching import Watch, WatchStart

NOT_OLDER = "NotOlderThan"
_BARE = ("kind", "apiVersion")


@dataclass(frozen=True, slots=True)
class ListOptions:
    """The query of a list or a watch, by the names of the API.

    A list is always of the latest version and whole: a server may ignore `limit`.
    """

    resource_version: str = ""
    resource_version_match: str = ""
    continue_token: str = ""
    send_initial_events: bool | None = None
    allow_watch_bookmarks: bool = False
    timeout_seconds: float | None = None


LATEST = ListOptions()


def list_objects(registry: Registry, selected: Selection, asked: ListOptions) -> JSON:
    """Return the List of a selection; 501 for what was there at another time."""
    if asked.continue_token or asked.resource_version_match or asked.send_initial_events:
        raise not_served("a list in pages or of another version than the latest")
    check_version_of_read(registry, asked.resource_version)
    resource, store = BY_KEY[selected.resource], registry.store
    found = store.items(selected.resource, selected.namespace)
    return {
        "kind": f"{resource.kind}List",
        "apiVersion": resource.api_version,
        "metadata": {"resourceVersion": str(store.version)},
        "items": [_bare(body) for body in found if selected.matches(body)],
    }


def begin_watch(registry: Registry, selected: Selection, asked: ListOptions) -> Watch:
    """Begin a watch of a selection; 400 and 501 at once, else as an event of the watch."""
    if asked.send_initial_events is not None and asked.resource_version_match != NOT_OLDER:
        raise bad_request(f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER}")
    store, timers = registry.store, registry.timers
    version = _watch_version(asked.resource_version)
    start = WatchStart(
        version=version,
        initial=bool(asked.send_initial_events),
        skip_initial=asked.send_initial_events is False and version is None,
        bookmarks=asked.allow_watch_bookmarks,
        timeout_seconds=asked.timeout_seconds,
    )
    return Watch(store, timers, selected, start, blank(BY_KEY[selected.resource]))


def check_version_of_read(registry: Registry, text: str) -> None:
    """Hold the version that a get or list names to what has been: the latest is answered."""
    version = _watch_version(text)
    if version is not None and version > registry.store.version:
        raise not_served("a version that has not been reached")


@cache
def blank(resource: Resource) -> JSON:
    """Return an object of a kind in which nothing is set, as bookmarks show it.

    The server's inner types hold the replicas of a workload as a number: unset shows as 0.
    """
    made = Decoder({}).read(root_of(resource), {})
    if "scale" in resource.subresources:
        made = {**made, "spec": {"replicas": 0, **made["spec"]}}
    return {**made, "kind": resource.kind, "apiVersion": resource.api_version}


def _watch_version(text: str) -> int | None:
    """Return the version that is named, None where any will do; 400 for what is none."""
    if text in ("", "0"):
        return None
    version = number_of_version(text)
    if version is None:
        raise bad_request(f'invalid resource version: "{text}"')
    return version


def _bare(body: JSON) -> JSON:
    return {name: item for name, item in body.items() if name not in _BARE}
