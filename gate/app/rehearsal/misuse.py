"""What the sandbox cannot do as it was asked, as the gate tells its users."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gate.errors import UsageError, UsageErrors
from sandbox.face import SandboxError


@contextmanager
def as_usage_error() -> Iterator[None]:
    """Raise the sandbox's complaint about its use as a UsageError, all mistakes at once."""
    try:
        yield
    except SandboxError as error:
        if len(error.problems) == 1:
            raise UsageError(error.problems[0], hint=error.hint) from error
        raise UsageErrors([(problem, error.hint) for problem in error.problems]) from error
