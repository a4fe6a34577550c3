"""A folder with a `rollout-gate.yaml`, and what loading it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gate.config import Settings, SettingsError, load
from gate.config.files import read
from gate.config.json_schema import schema
from gate.core.checks.spec import Check

VALIDATOR = Draft202012Validator(schema())
BY_POD = 'up{pod=~"${replicaset}-.*"}'
BY_SCHEMA, BY_LOADER = True, False
"""Whether the schema can see a fault too: it reads no queries, and compares no two numbers."""


@dataclass(frozen=True)
class Folder:
    """A working directory."""

    path: Path

    def load(
        self,
        text: str = "",
        *,
        command: str = "apply",
        environ: Mapping[str, str] = {},
        **flags: Any,
    ) -> Settings:
        """Load with `text` as the file."""
        if text:
            (self.path / "rollout-gate.yaml").write_text(text, encoding="utf-8")
        return load(command, flags, environ=environ, folder=self.path)

    def check(self, text: str) -> Check:
        """Load one check from its lines in a file."""
        (check,) = self.load(listed(text)).checks
        return check

    def problems(self, text: str = "", **given: Any) -> list[str]:
        """Return what is wrong, each line without the folder; exit code 2."""
        with pytest.raises(SettingsError) as caught:
            self.load(text, **given)
        assert caught.value.exit_code == 2
        return [line.replace(f"{self.path}/", "") for line in caught.value.problems]

    def values(self, text: str) -> dict[str, Any]:
        """Return what the file says, as an editor's JSON Schema sees it."""
        path = self.path / "rollout-gate.yaml"
        path.write_text(text, encoding="utf-8")
        return {key: entry.value for key, entry in read(str(path)).items()}

    def is_valid(self, text: str) -> bool:
        """Tell whether an editor with the schema would mark nothing in the file."""
        return VALIDATOR.is_valid(self.values(text))


def listed(text: str) -> str:
    """Return a file with one check of these lines."""
    first, *rest = text.strip("\n").splitlines()
    return "\n".join(["checks:", f"  - {first}", *(f"    {line}" for line in rest)])
