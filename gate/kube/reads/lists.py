"""Whole lists, read in pages of 500 and bounded."""

from __future__ import annotations

from collections.abc import Collection

from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Watched, Workload
from gate.core.rollout.observations import Kind
from gate.kube.answers.failures import BadAnswer
from gate.kube.client.client import Client, Query
from gate.kube.kinds import registry
from gate.kube.kinds.resource import Resource
from gate.wire import decode

PAGE_OBJECTS = 500
_LIST_OBJECTS = 50_000
_LOOK_SECONDS = 5.0


def list_all(
    client: Client,
    kind: Kind,
    namespace: str,
    selection: Query,
    *,
    once: bool = False,
    access: str = "",
) -> decode.Listing:
    """Read every page; the result's resourceVersion is where a watch continues from.

    No resourceVersion is sent: the answer is the newest there is. `once` without repetition,
    `access` as in `Client.get`. Raises Gone if the list became too old between two pages, BadAnswer
    if it cannot be read or does not end.
    """
    path = registry.RESOURCES[kind].path(namespace)
    objects: list[Watched] = []
    token = ""
    while True:
        query = (*selection, ("limit", str(PAGE_OBJECTS)))
        page_query = (*query, ("continue", token)) if token else query
        body = client.get(path, page_query, once=once, access=access)
        try:
            page = decode.listing(kind, body)
        except decode.DecodeError as error:
            raise BadAnswer(f"a list of {kind}s cannot be read: {error}") from error
        objects += page.objects
        token = page.continue_token
        if not token:
            return decode.Listing(tuple(objects), page.resource_version, "")
        if len(objects) > _LIST_OBJECTS or not page.objects:
            raise BadAnswer(f"the list of {kind}s does not end")


def list_live(
    client: Client,
    resource: Resource,
    namespace: str,
    names: Collection[str] | None = None,
    *,
    selection: Query = (),
    access: str = "",
) -> tuple[LiveObject, ...]:
    """Read whole objects of one namespace by a list of all: those of `names` that exist, or each.

    `selection` are selectors by which the server leaves out others. The list is the
    newest there is; it fails as `list_all` does.
    """
    path, is_wanted = resource.path(namespace), lambda name: names is None or name in names
    found: list[LiveObject] = []
    token, seen = "", 0
    while True:
        query: Query = (*selection, ("limit", str(PAGE_OBJECTS)))
        page_query = (*query, ("continue", token)) if token else query
        body = client.get(path, page_query, access=access)
        try:
            page = decode.live_page(resource.api_version, resource.kind, body, is_wanted)
        except decode.DecodeError as error:
            raise BadAnswer(f"a list of {resource.kind}s cannot be read: {error}") from error
        found += page.objects
        seen += page.count
        token = page.continue_token
        if not token:
            return tuple(found)
        if seen > _LIST_OBJECTS or not page.count:
            raise BadAnswer(f"the list of {resource.kind}s does not end")


def workload_names(client: Client, namespace: str, kind: str) -> frozenset[str] | None:
    """Return the names of all workloads of a kind, None if there is more than one page; `ApiError`.

    None also for a kind that is not judged.
    """
    watched = next((one.watched for one in registry.WORKLOADS if one.watched.kind == kind), None)
    if watched is None:
        return None
    page = _first_page(client, watched.kind, namespace)
    if page.continue_token:
        return None
    return frozenset(found.ref.name for found in page.objects if isinstance(found, Workload))


def _first_page(client: Client, kind: Kind, namespace: str) -> decode.Listing:
    """Read the first page of a list, asked for once."""
    query = (("limit", str(PAGE_OBJECTS)),)
    path = registry.RESOURCES[kind].path(namespace)
    body = client.get(path, query, seconds=_LOOK_SECONDS, once=True)
    try:
        return decode.listing(kind, body)
    except decode.DecodeError as error:
        raise BadAnswer(f"a list of {kind}s cannot be read: {error}") from error
