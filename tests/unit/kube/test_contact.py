"""What goes wrong is said each time; contact is lost when nothing succeeded for a while."""

from __future__ import annotations

import pytest

from gate.core.protocol.events import (
    ContactEvent,
    ContactFailed,
    ContactLost,
    ContactRestored,
)
from gate.kube.contact import SLOW_SECONDS, Contact
from gate.virtual_time import VirtualClock


def test_lost_and_restored_are_said_once() -> None:
    """Failures within the patience are no loss; beyond it one is; success restores once."""
    heard: list[ContactEvent] = []
    clock = VirtualClock()
    contact = Contact(clock, heard.append, patience_seconds=15.0)
    contact.note_success()
    clock.advance_to(14.9)
    contact.note_failure("refused")
    assert heard == [ContactFailed(14.9, "refused")]
    clock.advance_to(15.0)
    contact.note_failure("refused")
    contact.note_failure("refused")
    clock.advance_to(20.0)
    contact.note_success()
    contact.note_success()
    failed = ContactFailed(15.0, "refused")
    assert heard[1:] == [failed, ContactLost(15.0, "refused"), failed, ContactRestored(20.0)]


@pytest.mark.contract("B164")
@pytest.mark.parametrize(("seconds", "said"), [(SLOW_SECONDS, 0), (SLOW_SECONDS + 1.0, 1)])
def test_a_slow_answer_tells_that_the_server_was_away(seconds: float, said: int) -> None:
    """No request fails where a server is held still and goes on."""
    heard: list[ContactEvent] = []
    clock = VirtualClock()
    contact = Contact(clock, heard.append)
    with contact.timing():
        clock.advance_to(seconds)
    assert [type(event) for event in heard] == [ContactFailed] * said
