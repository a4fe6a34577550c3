"""What the program prints without a cluster."""

from __future__ import annotations

import json

import pytest

from tests.bed.invariants import RESULT_SCHEMA
from tests.bed.scene import Scene


@pytest.mark.contract("B187")
def test_the_printed_schema_is_the_published_one(scene: Scene) -> None:
    """`schema result` prints what every document of these tests is held to."""
    printed = scene.gate("schema", "result", check=True)
    assert json.loads(printed.stdout) == json.loads(RESULT_SCHEMA.read_text())
