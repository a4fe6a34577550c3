"""List and watch without end: resumes, lists again on 410, survives an API server that is away."""

from __future__ import annotations

import enum
import http.client
import json
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from tests.cluster.kubelet.api import JSON, Api, ApiError

PAGE_SIZE = 500
WATCH_SECONDS = 300
RETRY_SECONDS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0)

log = logging.getLogger(__name__)


class ChangeKind(enum.Enum):
    """What became of an object."""

    SEEN = enum.auto()
    GONE = enum.auto()


@dataclass(frozen=True, slots=True)
class Change:
    """One object as the API server has it now, or as it was when it went."""

    kind: ChangeKind
    object: JSON


class _ListAgain(Exception):
    """The server has forgotten the resource version from which the watch should go on."""


class Watch:
    """Every change of one collection, told to `tell`; `run` is for a thread of its own."""

    def __init__(
        self, api: Api, path: str, tell: Callable[[Change], None], selector: str = ""
    ) -> None:
        self._api = api
        self._path = path
        self._tell = tell
        self._selector = {"fieldSelector": selector} if selector else {}
        self._stopped = threading.Event()
        self._known: dict[str, JSON] = {}
        self._version: str | None = None

    def run(self) -> None:
        """Follow the collection until `stop`: for a thread that ends with the process."""
        failures = 0
        while not self._stopped.wait(RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)]):
            before = self._version
            try:
                if self._version is None:
                    self._list()
                self._follow()
            except _ListAgain:
                self._version = None
            except (ApiError, OSError, http.client.HTTPException, ValueError) as error:
                if not self._stopped.is_set():
                    log.warning("watch of %s: %r", self._path, error)
            failures = failures + 1 if self._version == before else 0

    def stop(self) -> None:
        """Take the server's end, which is near, for none of our trouble."""
        self._stopped.set()

    def _list(self) -> None:
        """Read the whole collection; what was known and is not in it has gone."""
        listed: dict[str, JSON] = {}
        version = ""
        for page in self._pages():
            listed |= {item["metadata"]["uid"]: item for item in page["items"]}
            version = page["metadata"]["resourceVersion"]
        self._version = version
        for uid, item in list(self._known.items()):
            if uid not in listed:
                self._forget(item)
        for item in listed.values():
            self._remember(item)

    def _pages(self) -> Iterator[JSON]:
        page_mark = ""
        while True:
            query = {"limit": PAGE_SIZE, **self._selector}
            page = self._api.json("GET", self._url(query | {"continue": page_mark}))
            yield page
            if not (page_mark := page["metadata"].get("continue", "")):
                return

    def _follow(self) -> None:
        query = {
            "watch": 1,
            "resourceVersion": self._version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": WATCH_SECONDS,
            **self._selector,
        }
        try:
            with self._api.lines(self._url(query)) as lines:
                for line in lines:
                    self._take(json.loads(line))
        except ApiError as error:
            if error.status == http.HTTPStatus.GONE:
                raise _ListAgain from error
            raise

    def _take(self, event: JSON) -> None:
        item = event["object"]
        if event["type"] == "ERROR":
            if item.get("code") == http.HTTPStatus.GONE:
                raise _ListAgain
            raise ApiError(item.get("code", 0), item.get("message", ""))
        if event["type"] == "DELETED":
            self._forget(item)
        elif event["type"] != "BOOKMARK":
            self._remember(item)
        self._version = item["metadata"]["resourceVersion"]

    def _remember(self, item: JSON) -> None:
        self._known[item["metadata"]["uid"]] = item
        self._tell(Change(ChangeKind.SEEN, item))

    def _forget(self, item: JSON) -> None:
        self._known.pop(item["metadata"]["uid"], None)
        self._tell(Change(ChangeKind.GONE, item))

    def _url(self, query: JSON) -> str:
        return f"{self._path}?{urlencode(query)}"
