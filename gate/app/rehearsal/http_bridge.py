"""Connects the client's connection pool to the sandbox: requests in, answers back."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from gate.core.frozen import dataclass
from sandbox.face import Answer, Request, Stream


def request_of(method: str, target: str, headers: Mapping[str, str], body: bytes) -> Request:
    """Return a request in the sandbox's form; `target` is a path with its query."""
    parts = urlsplit(target)
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    return Request(method, unquote(parts.path), query, headers, body)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer in the form of the client's pool."""

    status: int
    headers: Mapping[str, str]
    body: Whole | Growing

    @classmethod
    def of(cls, answer: Answer) -> Reply:
        """Return the reply for the sandbox's answer."""
        body = answer.body
        held = Whole(body) if isinstance(body, bytes) else Growing(body)
        return cls(answer.status, answer.headers, held)


class Whole:
    """A body that is complete at once."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def ended(self) -> bool:
        """Whether it was taken."""
        return not self._data

    def take(self) -> bytes:
        """Return all of it, once."""
        data, self._data = self._data, b""
        return data

    def close(self) -> None:
        """Drop the body."""
        self._data = b""


class Growing:
    """A body whose lines arrive over time."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self._stream.ended

    def take(self) -> bytes:
        """Return what has arrived since the last call."""
        return b"".join(self._stream.take())

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
