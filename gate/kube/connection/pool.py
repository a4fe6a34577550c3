"""Connections that are open before a request needs them.

A verdict asks for several things at once, and a new connection costs two round trips and the
cryptography of a handshake: time that a rollout in progress has to spare, and a rollback has not.
"""

from __future__ import annotations

import ssl
import threading
from queue import LifoQueue

import urllib3
from urllib3.connection import HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.util.wait import wait_for_read


class ReadyConnection(HTTPSConnection):
    """A connection that stays usable though nothing was asked on it yet.

    urllib3 takes an idle connection with data to read for one that the server gave up. In TLS 1.3
    that data can be a session ticket, which comes after the handshake (RFC 8446, 4.6.1).
    """

    @property
    def is_connected(self) -> bool:
        """Whether a request can be sent: there is a socket, and the server has not closed it."""
        return super().is_connected or (self._took_in_tickets() and super().is_connected)

    def _took_in_tickets(self) -> bool:
        """Read what came unasked; False if it is the end, or anything but a ticket."""
        if not isinstance(self.sock, ssl.SSLSocket) or not wait_for_read(self.sock, 0.0):
            return False
        self.sock.settimeout(0.0)
        try:
            self.sock.recv(1)
        except ssl.SSLWantReadError:
            return True
        except OSError:
            return False
        return False


class OpenFirst(LifoQueue[ReadyConnection | None]):
    """Gives out open connections before those that still have to connect.

    urllib3 gives out the one that came back last. At the end of a run those are the connections of
    watches, which are closed, and to give the locks back would wait for another handshake.
    """

    def _put(self, item: ReadyConnection | None) -> None:
        place = 0 if item is None or item.is_closed else len(self.queue)
        self.queue.insert(place, item)


class ReadyPool(urllib3.HTTPSConnectionPool):
    """A pool of urllib3 that can connect ahead; requests take its connections as usual."""

    ConnectionCls = ReadyConnection
    QueueCls = OpenFirst  # type: ignore[assignment]

    def connect_ahead(self, count: int, seconds: float, stopping: threading.Event) -> None:
        """Open up to `count` idle connections, each within `seconds`; no more once it is stopping.

        Raises nothing: if connecting fails now, a later request will say so.
        """
        try:
            taken = [self._get_conn() for _ in range(count)]
        except HTTPError:  # the pool was closed
            return
        for connection in taken:
            if not connection.is_closed or stopping.is_set():
                continue
            connection.timeout = seconds
            try:
                self._validate_conn(connection)
            except (HTTPError, OSError):
                # A handshake that fails leaves a socket without a descriptor behind.
                connection.close()
                break
        for connection in taken:
            self._put_conn(connection)


def use_ready_pools(manager: urllib3.PoolManager) -> None:
    """Let a manager that has no pool yet make pools that can connect ahead.

    A manager for SOCKS has pools of its own, and keeps them.
    """
    classes = manager.pool_classes_by_scheme
    if classes["https"] is urllib3.HTTPSConnectionPool:
        manager.pool_classes_by_scheme = {**classes, "https": ReadyPool}


def ready_pool(manager: object, url: str) -> ReadyPool | None:
    """Return the pool for `url` if it can connect ahead, None if nothing is gained by it.

    Behind a proxy each connection needs a request of its own; plain HTTP has no handshake.

    """
    if not isinstance(manager, urllib3.PoolManager):
        return None
    pool = manager.connection_from_url(url)
    return pool if isinstance(pool, ReadyPool) and pool.proxy is None else None
