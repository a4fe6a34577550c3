"""Manifests from text, for the tests of this room."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from gate.errors import UsageError
from gate.manifests.load import load
from gate.manifests.manifest import Manifest


@pytest.fixture
def loaded() -> Callable[[str], Manifest]:
    """Load text as if it were piped in."""
    return lambda text: load(["-"], stdin=io.BytesIO(text.encode()))


@pytest.fixture
def complaint(loaded: Callable[[str], Manifest]) -> Callable[[str], UsageError]:
    """Load text that is wrong, and return the error."""

    def complain(text: str) -> UsageError:
        with pytest.raises(UsageError) as refused:
            loaded(text)
        return refused.value

    return complain
