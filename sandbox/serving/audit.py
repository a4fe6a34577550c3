"""What was asked of the API server, one entry a request: tests count and check writes by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.serving.paths import Target

WRITES = ("create", "update", "patch", "delete", "deletecollection")


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One request and its outcome; `at` is the sandbox's time in seconds.

    `request_body` and `answer_body` are raw; those of a watch or of a followed log stay empty.
    """

    at: float
    user: str
    user_agent: str
    uri: str
    target: Target
    status: int
    dry_run: bool
    content_type: str
    request_body: bytes
    answer_body: bytes

    @property
    def is_write(self) -> bool:
        """Whether it asked for a change that is kept, whatever came of it."""
        return self.target.verb in WRITES and not self.dry_run


Heard = Callable[[AuditEntry], None]


def unheard(_entry: AuditEntry) -> None:
    """Keep no audit."""
