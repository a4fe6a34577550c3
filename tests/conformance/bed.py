"""What a scenario is played on: a cluster that can be asked, watched and waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tests.cluster.kubelet.api import JSON

APPLY_PATCH = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
Hear = Callable[[float, bytes], None]


class Bed(Protocol):
    """A cluster; all of it is used in one thread."""

    def json(
        self,
        method: str,
        path: str,
        body: JSON | list[JSON] | None = None,
        content_type: str = "application/json",
    ) -> JSON:
        """Send one request as the administrator; raises `ApiError` where it is refused."""

    def watch(self, path: str, hear: Hear) -> None:
        """Have `hear` called with the time and the bytes of each line, while `wait` waits."""

    def now(self) -> float:
        """Return the seconds of the bed's time."""

    def wait(self, holds: Callable[[], bool], seconds: float) -> bool:
        """Wait until `holds`, which is asked after each line; return whether it came in time."""

    def leave(self) -> None:
        """Watch no more."""
