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
from tests.table import each

SHED, DOWN = "429 Too Many Requests", "503 Service Unavailable"


@pytest.mark.contract("B1603")
def test_lost_and_restored_are_said_once() -> None:
    """Failures for less than the patience are no loss; then one is; success restores once."""
    heard: list[ContactEvent] = []
    clock = VirtualClock()
    contact = Contact(clock, heard.append)
    clock.advance_to(100.0)
    contact.note_failure("refused")
    clock.advance_to(107.9)
    contact.note_failure("refused")
    assert heard == [ContactFailed(100.0, "refused"), ContactFailed(107.9, "refused")]
    clock.advance_to(108.0)
    contact.note_failure("refused")
    contact.note_failure("refused")
    clock.advance_to(120.0)
    contact.note_success()
    contact.note_success()
    failed = ContactFailed(108.0, "refused")
    lost = ContactLost(108.0, "refused", failing_seconds=8.0)
    assert heard[2:] == [failed, lost, failed, ContactRestored(120.0)]


@pytest.mark.contract("B1603")
@each(
    ("answered_at", "is_lost"),
    [(-1.0, True), (4.0, True), (9.0, False)],
)
def test_a_request_that_waits_in_vain_counts_from_its_sending(
    answered_at: float, *, is_lost: bool
) -> None:
    """Unless another one was answered meanwhile: then the server was there."""
    heard: list[ContactEvent] = []
    clock = VirtualClock()
    contact = Contact(clock, heard.append)
    if answered_at > 0.0:
        clock.advance_to(answered_at)
        contact.note_success()
    clock.advance_to(15.0)
    contact.note_failure("no answer in time", sent_at=0.0)
    assert (ContactLost in map(type, heard)) is is_lost


@pytest.mark.contract("B1631")
def test_what_came_instead_of_a_usable_answer_is_said_and_what_comes_later() -> None:
    """Each new kind of failure is told while contact is lost, and forgotten at a success."""
    heard: list[ContactEvent] = []
    clock = VirtualClock()
    contact = Contact(clock, heard.append)
    for at, answer in ((0.0, SHED), (9.0, SHED), (10.0, SHED), (12.0, ""), (13.0, SHED)):
        clock.advance_to(at)
        contact.note_failure("no", answer=answer)
    contact.note_success()
    for at in (20.0, 28.0):
        clock.advance_to(at)
        contact.note_failure("no", answer=DOWN)
    assert [event for event in heard if isinstance(event, ContactLost)] == [
        ContactLost(9.0, "no", 9.0, (SHED,)),
        ContactLost(12.0, "no", 12.0, ("", SHED)),
        ContactLost(28.0, "no", 8.0, (DOWN,)),
    ]


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


@pytest.mark.contract("B1710")
def test_what_is_beside_ends_no_loss_that_anything_else_shows() -> None:
    """A lock is renewed all the while: contact is lost, and back with another request alone."""
    heard: list[ContactEvent] = []
    clock = VirtualClock()
    contact = Contact(clock, heard.append)
    for at in (0.0, 4.0, 8.0):
        clock.advance_to(at)
        contact.note_failure("no", answer=DOWN)
        contact.note_success(beside=True)
    clock.advance_to(9.0)
    contact.note_failure("no", answer=DOWN, beside=True)
    contact.note_success(beside=True)
    lost = ContactLost(8.0, "no", 8.0, (DOWN,))
    assert [event for event in heard if not isinstance(event, ContactFailed)] == [lost]
    contact.note_success()
    assert heard[-1] == ContactRestored(9.0)


@pytest.mark.contract("B1710", "B1603")
def test_what_is_beside_ends_what_it_shows_itself() -> None:
    """Nothing else is asked while a lock is waited for: it counts alone."""
    heard: list[ContactEvent] = []
    clock = VirtualClock()
    contact = Contact(clock, heard.append)
    for at in (0.0, 8.0):
        clock.advance_to(at)
        contact.note_failure("no", beside=True)
    contact.note_success(beside=True)
    assert heard[-2:] == [ContactLost(8.0, "no", 8.0), ContactRestored(8.0)]
    clock.advance_to(20.0)
    contact.note_failure("no", beside=True)
    assert heard[-1] == ContactFailed(20.0, "no")
