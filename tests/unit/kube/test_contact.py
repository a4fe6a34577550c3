"""Contact is lost when nothing succeeded for a while and the latest request failed."""

from __future__ import annotations

from gate.core.events import ContactLost, ContactRestored
from gate.core.outcome import Reason
from gate.kube.contact import Contact
from gate.virtual_time import VirtualClock


def test_lost_and_restored_are_said_once() -> None:
    """Failures within the patience say nothing; beyond it once; success restores once."""
    heard: list[ContactLost | ContactRestored] = []
    clock = VirtualClock()
    contact = Contact(clock, heard.append, patience_seconds=15.0)
    contact.succeeded()
    clock.advance_to(14.9)
    contact.failed("refused")
    assert heard == []
    clock.advance_to(15.0)
    contact.failed("refused")
    contact.failed("refused")
    clock.advance_to(20.0)
    contact.succeeded()
    contact.succeeded()
    assert heard == [ContactLost(15.0, "refused"), ContactRestored(20.0)]


def test_silence_alone_is_no_loss() -> None:
    """A long time without any request is followed by a failure that still counts from there."""
    heard: list[ContactLost | ContactRestored] = []
    clock = VirtualClock()
    contact = Contact(clock, heard.append)
    clock.advance_to(100.0)
    assert heard == []
    contact.failed("reset")
    assert heard == [ContactLost(100.0, "reset")]


def test_the_end_is_final() -> None:
    """Where the server answers but not us, waiting is no use."""
    heard: list[ContactLost | ContactRestored] = []
    Contact(VirtualClock(3.0), heard.append).ended("cannot list pods", Reason.FORBIDDEN)
    assert heard == [ContactLost(3.0, "cannot list pods", Reason.FORBIDDEN)]
