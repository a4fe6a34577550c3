"""How a controller writes the status that it computed from its cache."""

from __future__ import annotations

from sandbox.api.api import Api, Writer
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.storage.store import Key


def write_status(api: Api, by: Writer, key: Key, cached: JSON, status: JSON) -> None:
    """Write a status that differs from the cached one; over a newer version too, tried once."""
    if status == cached.get("status"):
        return
    try:
        api.update(key, {**cached, "status": status}, by, subresource="status")
    except ApiError:
        api.update(key, {**api.get(key), "status": status}, by, subresource="status")
