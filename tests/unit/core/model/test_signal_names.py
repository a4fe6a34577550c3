"""What signals are called where people read of them."""

from __future__ import annotations

import signal

import pytest

from gate.core.model.signal_names import NAMES, signal_name
from gate.signals import ENDING_SIGNALS


@pytest.mark.contract("B29")
@pytest.mark.parametrize("number", sorted({*NAMES, *ENDING_SIGNALS}))
def test_a_signal_is_called_as_the_system_calls_it(number: int) -> None:
    """Those that end a run, and those that commonly end a command."""
    assert signal_name(number) == signal.Signals(number).name


def test_a_signal_without_a_name_is_called_by_its_number() -> None:
    """A real-time signal, and what a report of another version says."""
    assert signal_name(63) == "signal 63"
