"""List and watch: which version is asked for, and whether it can be had."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sandbox.api.registry import Registry
from sandbox.failure import (
    ApiError,
    FieldError,
    bad_request,
    invalid_options,
    make_expired_error,
)
from sandbox.json import JSON
from sandbox.kinds import BY_KEY, Resource
from sandbox.objects.decoding import Decoder
from sandbox.objects.gotypes import root_of
from sandbox.storage.change import number_of_version
from sandbox.storage.history import Expired
from sandbox.storage.pages import TOO_OLD_LIST, Page, first_page, next_page
from sandbox.storage.selection import Selection
from sandbox.storage.watching import Watch, WatchStart, failed_watch

EXACT = "Exact"
NOT_OLDER = "NotOlderThan"
_BARE = ("kind", "apiVersion")
_MATCH = "resourceVersionMatch"


@dataclass(frozen=True, slots=True)
class ListOptions:
    """The query of a list or a watch, by the names of the API."""

    resource_version: str = ""
    resource_version_match: str = ""
    limit: int = 0
    continue_token: str = ""
    send_initial_events: bool | None = None
    allow_watch_bookmarks: bool = False
    timeout_seconds: float | None = None


LATEST = ListOptions()


def list_objects(registry: Registry, selected: Selection, asked: ListOptions) -> JSON:
    """Return the List of a selection, or one page of it; 400, 410, 422, 504."""
    _refuse(_list_errors(asked))
    page = _read(registry, selected, asked)
    resource = BY_KEY[selected.resource]
    metadata: JSON = {"resourceVersion": str(page.version)}
    if page.token:
        metadata["continue"] = page.token
    if page.remaining is not None:
        metadata["remainingItemCount"] = page.remaining
    return {
        "kind": f"{resource.kind}List",
        "apiVersion": resource.api_version,
        "metadata": metadata,
        "items": [_bare(body) for body in page.items],
    }


def begin_watch(registry: Registry, selected: Selection, asked: ListOptions) -> Watch:
    """Begin a watch of a selection; 400 and 422 at once, else as an event of the watch."""
    _refuse(_watch_errors(asked))
    store, timers = registry.store, registry.timers
    version = _watch_version(asked.resource_version)
    initial = bool(asked.send_initial_events)
    if initial and version is not None and version > store.version:
        return failed_watch(store, timers, selected, too_large(version, store.version))
    start = WatchStart(
        version=version,
        initial=initial,
        skip_initial=asked.send_initial_events is False and version is None,
        bookmarks=asked.allow_watch_bookmarks,
        timeout_seconds=asked.timeout_seconds,
    )
    return Watch(store, timers, selected, start, blank(BY_KEY[selected.resource]))


def checked_version(registry: Registry, text: str) -> int | None:
    """Return the version that a get or list names (None: any); 400, 504 for one of the future."""
    if text in ("", "0"):
        return None
    version = number_of_version(text)
    if version is None:
        raise bad_request(
            f'invalid resource version: resourceVersion: Invalid value: "{text}":'
            f' strconv.ParseUint: parsing "{text}": invalid syntax'
        )
    if version > registry.store.version:
        raise too_large(version, registry.store.version)
    return version


def too_large(asked: int, current: int) -> ApiError:
    """504 for a version that has not been reached."""
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    return ApiError(
        504,
        "Timeout",
        f"Timeout: Too large resource version: {asked}, current: {current}",
        details={"causes": [cause], "retryAfterSeconds": 1},
        headers={"Retry-After": "1"},
    )


@cache
def blank(resource: Resource) -> JSON:
    """Return an object of a kind in which nothing is set, as bookmarks show it.

    The server's inner types hold the replicas of a workload as a number: unset shows as 0.
    """
    made = Decoder({}).read(root_of(resource), {})
    if "scale" in resource.subresources:
        made = {**made, "spec": {"replicas": 0, **made["spec"]}}
    return {**made, "kind": resource.kind, "apiVersion": resource.api_version}


def _read(registry: Registry, selected: Selection, asked: ListOptions) -> Page:
    store = registry.store
    if asked.continue_token and asked.resource_version in ("", "0"):
        limit = 0 if asked.resource_version else asked.limit
        return next_page(store, selected, limit=limit, token=asked.continue_token)
    if asked.continue_token:
        raise bad_request("specifying resource version is not allowed when using continue")
    version = checked_version(registry, asked.resource_version)
    if asked.resource_version == "0":
        return first_page(store, selected, limit=0, version=None)
    exact = asked.resource_version_match == EXACT
    paged = asked.limit > 0 and not asked.resource_version_match
    try:
        return first_page(
            store, selected, limit=asked.limit, version=version if exact or paged else None
        )
    except Expired:
        raise make_expired_error(TOO_OLD_LIST) from None


def _watch_version(text: str) -> int | None:
    if text in ("", "0"):
        return None
    version = number_of_version(text)
    if version is None:
        raise ApiError(
            500,
            "",
            f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}":'
            " invalid syntax",
        )
    return version


def _list_errors(asked: ListOptions) -> list[FieldError]:
    found = _match_errors(asked)
    if asked.send_initial_events is not None:
        why = "sendInitialEvents is forbidden for list"
        found.append(_forbidden("sendInitialEvents", why))
    return found


def _match_errors(asked: ListOptions) -> list[FieldError]:
    match, version = asked.resource_version_match, asked.resource_version
    if not match:
        return []
    found = []
    if asked.continue_token:
        found.append(_forbidden(_MATCH, f"{_MATCH} is forbidden when continue is provided"))
    if not version:
        why = f"{_MATCH} is forbidden unless resourceVersion is provided"
        found.append(_forbidden(_MATCH, why))
    if match not in (EXACT, NOT_OLDER):
        found.append(_make_unsupported_error(match, f'"{EXACT}", "{NOT_OLDER}", ""'))
    if match == EXACT and version == "0":
        why = f'{_MATCH} "exact" is forbidden for resourceVersion "0"'
        found.append(_forbidden(_MATCH, why))
    return found


def _watch_errors(asked: ListOptions) -> list[FieldError]:
    match = asked.resource_version_match
    if asked.continue_token:
        return [_forbidden(_MATCH, f"{_MATCH} is forbidden when continue is provided")]
    found = []
    if asked.send_initial_events is None:
        if match:
            why = f"{_MATCH} is forbidden for watch unless sendInitialEvents is provided"
            found.append(_forbidden(_MATCH, why))
        return found
    if match != NOT_OLDER:
        why = f"sendInitialEvents requires setting {_MATCH} to {NOT_OLDER}"
        found.append(_forbidden(_MATCH, why))
        if match:
            found.append(_make_unsupported_error(match, f'"{NOT_OLDER}"'))
    return found


def _forbidden(field: str, why: str) -> FieldError:
    return FieldError(field, "FieldValueForbidden", f"Forbidden: {why}")


def _make_unsupported_error(value: str, supported: str) -> FieldError:
    why = f'Unsupported value: "{value}": supported values: {supported}'
    return FieldError(_MATCH, "FieldValueNotSupported", why)


def _refuse(errors: list[FieldError]) -> None:
    if errors:
        raise invalid_options("ListOptions", errors)


def _bare(body: JSON) -> JSON:
    return {name: item for name, item in body.items() if name not in _BARE}
