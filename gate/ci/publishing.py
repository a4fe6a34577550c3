"""Writes to the host: the one place in this room that does I/O. A failure is only a warning."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from gate.ci.azure import Azure
from gate.ci.github import GitHub
from gate.ci.gitlab import GitLab
from gate.ci.host import Host, detect
from gate.ci.sink import Addition, Plain, Sink
from gate.pipes import append

_TOKEN_BYTES: Final = 16


def sink_of(environ: Mapping[str, str], now: datetime) -> Sink:
    """Return the sink for the host of this environment; `now` is an aware datetime."""
    match detect(environ):
        case Host.GITHUB:
            token = secrets.token_hex(_TOKEN_BYTES)
            return GitHub(environ, token, _size(environ.get("GITHUB_STEP_SUMMARY", "")))
        case Host.GITLAB:
            return GitLab(int(now.timestamp()))
        case Host.AZURE:
            return Azure()
        case _:
            return Plain()


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size if path else 0
    except OSError:
        return 0


def publish(additions: Sequence[Addition]) -> list[str]:
    """Append to the host's files, in UTF-8; return a warning for each that could not be written."""
    warnings = []
    for addition in additions:
        try:
            append(addition.path, addition.text.encode("utf-8", "replace"))
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            warnings.append(f"the CI host's file {addition.path} could not be written: {why}")
    return warnings
