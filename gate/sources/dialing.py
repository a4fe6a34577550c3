"""Connections that check which peer they reached, and that another thread can end.

The only file of this room that knows urllib3: only there is the peer's address known after the
name was resolved and before a byte is sent.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Any, Final

import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from gate.sources.address import is_link_local

ReadError = urllib3.exceptions.HTTPError
"""What reading an answer's body raises, OSErrors aside."""
TimedOut = urllib3.exceptions.TimeoutError
BrokenOff = urllib3.exceptions.ProtocolError
NotConnected = urllib3.exceptions.NewConnectionError


class LinkLocalError(OSError):
    """The peer is at a link-local address."""


def _guard(peer: socket.socket) -> socket.socket:
    """Return the connection, unless it leads to a link-local address."""
    address = str(peer.getpeername()[0])
    if is_link_local(address):
        peer.close()
        raise LinkLocalError(f"{address} is a link-local or metadata address")
    return peer


def connect_once(host: str, port: int, seconds: float, *, guarded: bool) -> None:
    """Connect and send nothing; OSError if that fails, if `guarded` also `LinkLocalError`."""
    peer = socket.create_connection((host, port), seconds)
    (_guard(peer) if guarded else peer).close()


class _GuardedHttp(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        return _guard(super()._new_conn())


class _GuardedHttps(HTTPSConnection):
    def _new_conn(self) -> socket.socket:
        return _guard(super()._new_conn())


class _HttpPool(HTTPConnectionPool):
    """Keeps a reference to its one connection, also while it is in use."""

    opened: HTTPConnection | None = None

    def _new_conn(self) -> Any:
        self.opened = super()._new_conn()  # type: ignore[assignment]
        return self.opened


class _HttpsPool(HTTPSConnectionPool):
    """As `_HttpPool`."""

    opened: HTTPConnection | None = None

    def _new_conn(self) -> Any:
        self.opened = super()._new_conn()  # type: ignore[assignment]
        return self.opened


class _GuardedHttpPool(_HttpPool):
    ConnectionCls = _GuardedHttp


class _GuardedHttpsPool(_HttpsPool):
    ConnectionCls = _GuardedHttps


_OPEN: Final = {"http": _HttpPool, "https": _HttpsPool}
_GUARDED: Final = {"http": _GuardedHttpPool, "https": _GuardedHttpsPool}


class Adapter(HTTPAdapter):
    """The transport of one exchange at a time: one connection, kept open between exchanges."""

    def __init__(self, *, guarded: bool) -> None:
        """Refuse link-local peers if `guarded`, except with a proxy: then the peer is the proxy."""
        super().__init__(pool_connections=1, pool_maxsize=1, max_retries=0)
        self.poolmanager.pool_classes_by_scheme = _GUARDED if guarded else _OPEN

    def proxy_manager_for(self, proxy: str, **proxy_kwargs: Any) -> Any:
        """Keep a reference to the connection through a proxy too."""
        manager = super().proxy_manager_for(proxy, **proxy_kwargs)
        manager.pool_classes_by_scheme = _OPEN
        return manager

    def shut(self) -> None:
        """End the connection from another thread: whoever waits on it notices at once."""
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118 - the container refuses to be iterated
                _shut(getattr(manager.pools.get(key), "opened", None))


def _shut(connection: HTTPConnection | None) -> None:
    if connection is not None and connection.sock is not None:
        with contextlib.suppress(OSError):  # the peer has closed it already
            connection.sock.shutdown(socket.SHUT_RDWR)
