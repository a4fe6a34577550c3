"""A manifest that is read from stdin."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from gate import log
from gate.app.preflight.manifest_reading import read_manifest
from gate.config import load

MANIFEST = b"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"


class Terminal(io.BytesIO):
    """What is typed on a terminal."""

    def isatty(self) -> bool:
        """Say that it is one."""
        return True


@pytest.mark.contract("B2024")
@pytest.mark.parametrize("is_typed", [True, False])
def test_it_is_said_that_the_manifest_is_read_from_a_terminal(
    tmp_path: Path, *, is_typed: bool
) -> None:
    """Nothing else would show that the gate waits for it."""
    settings = load("apply", {"file": ("-",)}, environ={}, folder=tmp_path)
    said = io.StringIO()
    log.configure("console", "info", stream=said)
    stdin = Terminal(MANIFEST) if is_typed else io.BytesIO(MANIFEST)
    assert [str(item) for item in read_manifest(settings, stdin, "").objects] == ["configmap/a"]
    assert ("Ctrl-D ends it" in said.getvalue()) is is_typed
    log.configure("console", "info")
