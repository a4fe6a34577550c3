"""Credentials are renewed before they expire and once after a 401, by one thread at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from gate.kube.answers.failures import Unauthorized
from gate.kube.connection.credentials import Credential, Credentials, TokenFile
from gate.virtual_time import VirtualClock


@dataclass
class Counting:
    """A source of numbered credentials that live for a minute, and may fail."""

    renewable: bool = True
    loads: int = 0
    failing: bool = False

    def load(self, now: float) -> Credential:
        """Return the next credential."""
        self.loads += 1
        if self.failing:
            raise Unauthorized("no session")
        return Credential(f"Bearer {self.loads}", renew_at=now + 60, expires_at=now + 120)


def test_a_credential_is_renewed_in_time() -> None:
    """It is kept until it is due, then replaced."""
    clock = VirtualClock()
    credentials = Credentials(Counting(), clock)
    clock.advance_to(59.0)
    assert credentials.current().authorization == "Bearer 1"
    clock.advance_to(60.0)
    assert credentials.current().authorization == "Bearer 2"


def test_a_failed_renewal_is_tried_again_while_the_old_one_holds() -> None:
    """An outage of the plugin ends nothing before the credential itself has expired."""
    clock, source = VirtualClock(), Counting()
    credentials = Credentials(source, clock)
    source.failing = True
    clock.advance_to(60.0)
    assert credentials.current().authorization == "Bearer 1"
    assert credentials.current().authorization == "Bearer 1"
    assert source.loads == 2
    clock.advance_to(120.0)
    with pytest.raises(Unauthorized):
        credentials.current()
    source.failing = False
    assert credentials.current().authorization == "Bearer 4"


def test_a_refused_credential_is_replaced_once() -> None:
    """Of several requests that were refused with the same credential one renews it for all."""
    source = Counting()
    credentials = Credentials(source, VirtualClock())
    assert credentials.renew(0)
    assert credentials.renew(0)
    assert source.loads == 2
    assert credentials.renew(1)
    assert source.loads == 3


def test_a_token_file_is_read_again(tmp_path: Path) -> None:
    """A token that the kubelet rotates is followed within a minute."""
    file, clock = tmp_path / "token", VirtualClock()
    file.write_text("one\n")
    credentials = Credentials(TokenFile(str(file)), clock)
    file.write_text("two\n")
    assert credentials.current().authorization == "Bearer one"
    clock.advance_to(60.0)
    assert credentials.current().authorization == "Bearer two"


@pytest.mark.parametrize("content", ["", " \n", "a b", "a\nb", "ü"])
def test_a_token_that_is_none(tmp_path: Path, content: str) -> None:
    """An empty or broken token is Unauthorized: it would go out as no credential at all."""
    file = tmp_path / "token"
    file.write_text(content)
    with pytest.raises(Unauthorized, match="empty or not printable"):
        TokenFile(str(file)).load(0.0)
