"""A folder for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.config.folder import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Return an empty working directory."""
    return Folder(tmp_path)
