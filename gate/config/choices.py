"""The closed sets for output settings; those that decide are in `gate.core.rollout.policy`."""

from __future__ import annotations

import enum


class OutputFormat(enum.StrEnum):
    """What goes to stdout."""

    TEXT = "text"
    JSON = "json"


class LogFormat(enum.StrEnum):
    """How progress and diagnostics are written to stderr."""

    CONSOLE = "console"
    JSON = "json"


class LogLevel(enum.StrEnum):
    """From which level on diagnostics are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
