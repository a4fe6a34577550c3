"""The settings of a command: options declared once, read from flags, environment and files."""

from __future__ import annotations

from gate.config.checks.writing import as_configuration
from gate.config.layers import SettingsError, load, unknown_variables
from gate.config.limits import all_checks, object_wait, policy
from gate.config.settings import Settings

__all__ = [
    "Settings",
    "SettingsError",
    "all_checks",
    "as_configuration",
    "load",
    "object_wait",
    "policy",
    "unknown_variables",
]
