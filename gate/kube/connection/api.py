"""Sends one request: the part of the official client that talks HTTP, without its typed models.

`RESTClientObject` of the official client sends it, by its `Configuration`. The classes above it
(`ApiClient`, `DynamicClient`) turn typed models into JSON and back: they cost a quarter of an
apply's start and forty times the decoding, and an unknown field would make them fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, urlencode

import urllib3

from gate import __version__
from gate.kube.connection.official import ApiException, Configuration, RESTClientObject
from gate.kube.connection.pool import ReadyPool, ready_pool, use_ready_pools

_ERROR_BYTES = 1 << 16

Counted = Callable[[str, str, int | None], None]
"""Called for each request, in the thread that sent it: method, URL, and the status or None."""


class Api:
    """One server by one configuration, for several threads.

    `counted` is called for each request, watches and repetitions included; it raises nothing.
    """

    def __init__(self, configuration: Configuration, impersonation: list[tuple[str, str]]) -> None:
        """Send these headers of impersonation, which may repeat, with every request."""
        self.configuration = configuration
        self.counted: Counted | None = None
        self._impersonation = impersonation
        self.reconnect()

    def request(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]],
        body: Any,
        content_type: str,
        seconds: tuple[float, float],
    ) -> urllib3.BaseHTTPResponse:
        """Return an answer whose head has arrived; its body is not read yet.

        `body` is JSON or None; `seconds` are the limits for the connection and for each read.
        Raises ApiException for an answer that is no success, with its body up to 64 KiB, and
        errors of urllib3 and of the socket where there is no answer.
        """
        url = f"{self.configuration.host}{path}"
        if query:
            url += f"?{urlencode(query, safe='/', quote_via=quote)}"
        headers, status = self._headers(content_type), None
        try:
            send = self.rest_client.request
            answer = send(method, url, headers, body, _request_timeout=seconds)  # type: ignore[no-untyped-call]
            status = answer.status
        finally:
            if self.counted is not None:
                self.counted(method, url, status)
        response: urllib3.BaseHTTPResponse = answer.response
        if not 200 <= answer.status <= 299:  # noqa: PLR2004 - the class of HTTP statuses
            answer.data = response.read(_ERROR_BYTES, decode_content=False)
            response.close()
            raise ApiException(http_resp=answer)
        return response

    def reconnect(self) -> None:
        """Use the configuration's certificates from the next connection on."""
        fresh = RESTClientObject(self.configuration)
        use_ready_pools(fresh.pool_manager)
        self.rest_client = fresh

    def close(self) -> None:
        """Close the connections that wait for another request."""
        self.rest_client.close()

    @property
    def ready_pool(self) -> ReadyPool | None:
        """The pool that can connect ahead, None if nothing is gained by it."""
        return ready_pool(self.rest_client.pool_manager, self.configuration.host)

    def _headers(self, content_type: str) -> urllib3.HTTPHeaderDict:
        """Return the headers of a request: who asks, by which credential, and for whom."""
        headers = urllib3.HTTPHeaderDict(
            {
                "Accept": "application/json",
                "Content-Type": content_type,
                "User-Agent": f"rollout-gate/{__version__}",
            }
        )
        credential = self.configuration.auth_settings().get("BearerToken")
        if credential is not None and credential["value"]:
            headers[credential["key"]] = credential["value"]
        for name, value in self._impersonation:
            headers.add(name, value)
        return headers
