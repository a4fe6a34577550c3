"""A small client of the Kubernetes API: JSON over kept-alive HTTPS, and lines of a watch."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import yaml

JSON = dict[str, Any]

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
REQUEST_SECONDS = 10.0
# Bookmarks come about once a minute; a watch without even these is dead.
WATCH_IDLE_SECONDS = 120.0


_CLOSED_MEANWHILE = (
    BrokenPipeError,
    ConnectionResetError,
    http.client.RemoteDisconnected,
    ssl.SSLEOFError,
)


class ApiError(Exception):
    """The API server answered with an error; `status` is the HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Identity:
    """How a client proves who it is: a bearer token, or a certificate with its key (PEM files)."""

    token: str = ""
    certificate: Path | None = None
    key: Path | None = None


class Api:
    """One API server as one user sees it; each thread keeps a connection of its own."""

    def __init__(
        self, server: str, authority: Path | None, identity: Identity, user_agent: str
    ) -> None:
        self.server = server
        self._address = urlsplit(server)
        self._context = ssl.create_default_context(cafile=authority)
        if identity.certificate:
            self._context.load_cert_chain(identity.certificate, identity.key)
        self._headers = {"User-Agent": user_agent, "Accept": "application/json"}
        if identity.token:
            self._headers["Authorization"] = f"Bearer {identity.token}"
        self._local = threading.local()
        self._opened: list[http.client.HTTPSConnection] = []

    def __enter__(self) -> Self:
        """Return itself; the connections close with the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections of all threads."""
        self.close()

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._opened:
            connection.close()

    def json(
        self,
        method: str,
        path: str,
        body: JSON | list[JSON] | None = None,
        content_type: str = "application/json",
    ) -> JSON:
        """Send one request and return the object of the answer.

        Raises `ApiError` for an answer of 400 and above, `OSError` or `http.client.HTTPException`
        where there is no answer within `REQUEST_SECONDS`.
        """
        answer: JSON = json.loads(self.text(method, path, body, content_type))
        return answer

    def text(
        self,
        method: str,
        path: str,
        body: JSON | list[JSON] | None = None,
        content_type: str = "application/json",
    ) -> str:
        """Send one request and return the answer's text; errors as for `json`."""
        content = None if body is None else json.dumps(body).encode()
        headers = self._headers if body is None else {**self._headers, "Content-Type": content_type}
        connection = self._connection()
        was_open = connection.sock is not None
        try:
            status, answer = _exchange(connection, method, path, content, headers)
        except _CLOSED_MEANWHILE:
            # A server may close an idle connection at any time; a fresh one has no such excuse.
            if not was_open:
                raise
            status, answer = _exchange(connection, method, path, content, headers)
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise ApiError(status, message_of(answer))
        return answer.decode(errors="replace")

    @contextmanager
    def lines(
        self, path: str, idle_seconds: float = WATCH_IDLE_SECONDS
    ) -> Iterator[Iterator[bytes]]:
        """Open a watch: within the block, its lines come until the server ends it.

        Silence of `idle_seconds` raises `TimeoutError`; other errors as for `json`.
        """
        with closing(self._connect(idle_seconds)) as connection:
            connection.request("GET", path, headers=self._headers)
            with connection.getresponse() as response:
                if response.status >= http.HTTPStatus.BAD_REQUEST:
                    raise ApiError(response.status, message_of(response.read()))
                yield iter(response.readline, b"")

    def _connection(self) -> http.client.HTTPSConnection:
        connection: http.client.HTTPSConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect(REQUEST_SECONDS)
            self._opened.append(connection)
        return connection

    def _connect(self, timeout_seconds: float) -> http.client.HTTPSConnection:
        host, port = self._address.hostname or "", self._address.port
        return http.client.HTTPSConnection(
            host, port, timeout=timeout_seconds, context=self._context
        )


def _exchange(
    connection: http.client.HTTPSConnection,
    method: str,
    path: str,
    content: bytes | None,
    headers: dict[str, str],
) -> tuple[int, bytes]:
    """Send one request on `connection`; after a failure the connection starts afresh."""
    try:
        connection.request(method, path, content, headers)
        with connection.getresponse() as response:
            return response.status, response.read()
    except (OSError, http.client.HTTPException):
        connection.close()
        raise


def message_of(answer: bytes) -> str:
    """Return the message of a `Status` object, or the start of whatever else came."""
    try:
        return str(json.loads(answer)["message"])
    except (ValueError, KeyError, TypeError):
        return answer[:200].decode(errors="replace")


def from_kubeconfig(path: Path, folder: Path, user_agent: str) -> Api:
    """Return a client for the current context of a kubeconfig.

    Tokens and client certificates are understood; inline data is written into `folder`, since TLS
    reads files. Credential plugins are not: raises `ValueError`.
    """
    document = yaml.safe_load(path.read_text())
    context = named(document["contexts"], document["current-context"])["context"]
    cluster = named(document["clusters"], context["cluster"])["cluster"]
    user = named(document["users"], context["user"])["user"]
    if not {"token", "client-certificate", "client-certificate-data"} & set(user):
        raise ValueError(f"{path}: its user has neither a token nor a client certificate")
    identity = Identity(
        token=user.get("token", ""),
        certificate=_file(user, "client-certificate", folder),
        key=_file(user, "client-key", folder),
    )
    authority = _file(cluster, "certificate-authority", folder)
    return Api(cluster["server"], authority, identity, user_agent)


def named(entries: list[JSON], name: str) -> JSON:
    """Return the entry of a kubeconfig's list that has this name."""
    return next(entry for entry in entries if entry["name"] == name)


def _file(entry: JSON, key: str, folder: Path) -> Path | None:
    """Return the file that `entry` names under `key`, or one made of its inline data."""
    if data := entry.get(f"{key}-data"):
        path = folder / f"{key}.pem"
        path.touch(mode=0o600)
        path.write_bytes(base64.b64decode(data))
        return path
    return Path(entry[key]) if key in entry else None
