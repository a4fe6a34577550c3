"""What goes wrong is said each time; contact is lost when nothing succeeded for a while."""

from __future__ import annotations

import pytest

from gate.core.protocol.events import (
    ContactEvent,
    ContactFailed,
    ContactLost,
    ContactRestored,
)
from gate.kube.client.contact import SLOW_SECONDS, Contact
from gate.virtual_time import VirtualClock

SHED, DOWN = "429 Too Many Requests", "503 Service Unavailable"


class Listener:
    """Contact with a server, and what was told of it."""

    def __init__(self) -> None:
        self.heard: list[ContactEvent] = []
        self.clock = VirtualClock()
        self._contact = Contact(self.clock, self.heard.append)

    def at(self, seconds: float) -> Contact:
        """Return it at a time."""
        self.clock.advance_to(seconds)
        return self._contact

    def changes(self) -> list[ContactEvent]:
        """Return what was told but for single failures."""
        return [event for event in self.heard if not isinstance(event, ContactFailed)]


@pytest.fixture
def listener() -> Listener:
    """Return contact of which nothing was told yet."""
    return Listener()


@pytest.mark.contract("B1603")
def test_lost_and_restored_are_said_once(listener: Listener) -> None:
    """Failures for less than the patience are no loss; then one is; success restores once."""
    for at in (100.0, 107.9):
        listener.at(at).note_failure("refused")
    assert listener.heard == [ContactFailed(100.0, "refused"), ContactFailed(107.9, "refused")]
    for _ in range(2):
        listener.at(108.0).note_failure("refused")
    for _ in range(2):
        listener.at(120.0).note_success()
    failed = ContactFailed(108.0, "refused")
    lost = ContactLost(108.0, "refused", failing_seconds=8.0)
    assert listener.heard[2:] == [failed, lost, failed, ContactRestored(120.0)]


@pytest.mark.contract("B1603")
@pytest.mark.parametrize(("answered_at", "is_lost"), [(None, True), (4.0, True), (9.0, False)])
def test_a_request_that_waits_in_vain_counts_from_its_sending(
    listener: Listener, answered_at: float | None, *, is_lost: bool
) -> None:
    """Unless another one was answered meanwhile: then the server was there."""
    if answered_at is not None:
        listener.at(answered_at).note_success()
    listener.at(15.0).note_failure("no answer in time", sent_at=0.0)
    assert bool(listener.changes()) is is_lost


@pytest.mark.contract("B1631")
def test_what_came_instead_of_a_usable_answer_is_said_and_what_comes_later(
    listener: Listener,
) -> None:
    """Each new kind of failure is told while contact is lost, and forgotten at a success."""
    for at, answer in ((0.0, SHED), (9.0, SHED), (10.0, SHED), (12.0, ""), (13.0, SHED)):
        listener.at(at).note_failure("no", answer=answer)
    listener.at(13.0).note_success()
    for at in (20.0, 28.0):
        listener.at(at).note_failure("no", answer=DOWN)
    assert listener.changes() == [
        ContactLost(9.0, "no", 9.0, (SHED,)),
        ContactLost(12.0, "no", 12.0, ("", SHED)),
        ContactRestored(13.0),
        ContactLost(28.0, "no", 8.0, (DOWN,)),
    ]


@pytest.mark.contract("B164")
@pytest.mark.parametrize(("seconds", "said"), [(SLOW_SECONDS, 0), (SLOW_SECONDS + 1.0, 1)])
def test_a_slow_answer_tells_that_the_server_was_away(
    listener: Listener, seconds: float, said: int
) -> None:
    """No request fails where a server is held still and goes on."""
    with listener.at(0.0).timing():
        listener.clock.advance_to(seconds)
    assert [type(event) for event in listener.heard] == [ContactFailed] * said


@pytest.mark.contract("B1710")
def test_what_is_beside_ends_no_loss_that_anything_else_shows(listener: Listener) -> None:
    """A lock is renewed all the while: contact is lost, and back with another request alone."""
    for at in (0.0, 4.0, 8.0):
        listener.at(at).note_failure("no", answer=DOWN)
        listener.at(at).note_success(beside=True)
    listener.at(9.0).note_failure("no", answer=DOWN, beside=True)
    listener.at(9.0).note_success(beside=True)
    assert listener.changes() == [ContactLost(8.0, "no", 8.0, (DOWN,))]
    listener.at(9.0).note_success()
    assert listener.heard[-1] == ContactRestored(9.0)


@pytest.mark.contract("B1710", "B1603")
def test_what_is_beside_ends_what_it_shows_itself(listener: Listener) -> None:
    """Nothing else is asked while a lock is waited for: it counts alone."""
    for at in (0.0, 8.0):
        listener.at(at).note_failure("no", beside=True)
    listener.at(8.0).note_success(beside=True)
    assert listener.heard[-2:] == [ContactLost(8.0, "no", 8.0), ContactRestored(8.0)]
    listener.at(20.0).note_failure("no", beside=True)
    assert listener.heard[-1] == ContactFailed(20.0, "no")
