"""What a command was told: options declared once, read from flags, environment and files."""

from __future__ import annotations

from gate.config.json_schema import schema
from gate.config.layers import SettingsError, load, unknown_variables
from gate.config.limits import policy
from gate.config.settings import Settings

__all__ = ["Settings", "SettingsError", "load", "policy", "schema", "unknown_variables"]
