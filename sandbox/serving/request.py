"""What comes in and what goes out, without sockets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode

JSON_TYPE = "application/json"
PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf"
TEXT_TYPE = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request; `path` is percent-decoded, names of `headers` are lower-case."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def read_parameter(self, name: str) -> str:
        """Return the first value of a query parameter, empty where it is not there."""
        return next((value for key, value in self.query if key == name), "")

    def all_asked(self, name: str) -> list[str]:
        """Return every value of a query parameter."""
        return [value for key, value in self.query if key == name]

    @property
    def uri(self) -> str:
        """The path with its query, as the audit log shows it."""
        return f"{self.path}?{urlencode(self.query, errors='replace')}" if self.query else self.path


class Stream(Protocol):
    """A body that grows: the events of a watch, a log that is followed."""

    @property
    def ended(self) -> bool:
        """Whether nothing will come any more; what is pending can still be taken."""

    def take(self) -> list[bytes]:
        """Return what has come since the last call."""

    def on_data(self, hear: Callable[[], None]) -> None:
        """Have `hear` called whenever something has come, and at the end."""

    def close(self) -> None:
        """End it from the reader's side."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer; a `Stream` is written as it grows."""

    status: int
    body: bytes | Stream
    headers: Mapping[str, str] = field(default_factory=dict)


def to_json(value: Any) -> bytes:
    """Return compact JSON; what is no character (of a header, of a path) is a question mark."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(errors="replace")


def text_answer(status: int, text: str) -> Answer:
    """Return plain text, as health checks and unknown paths are answered."""
    return Answer(status, text.encode(), {"content-type": TEXT_TYPE})
