"""What proves who we are to the API server: held, renewed, shared by all threads.

Fails closed: if there is no credential there is an error, never a request without one.
"""

from __future__ import annotations

import base64
import math
import re
import threading
from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path
from typing import Protocol

from gate.clock import Clock
from gate.core.frozen import dataclass
from gate.kube.answers.failures import Unauthorized

_TOKEN_FILE_SECONDS = 60.0
_RETRY_SECONDS = 10.0
_VISIBLE = re.compile(r"[\x21-\x7e]+")


Tell = Callable[[str | bytes], None]


def _nobody(_: str | bytes) -> None:
    """Report a secret to nobody."""


@dataclass(frozen=True, slots=True)
class Credential:
    """What one request carries: a header, or a client certificate with its key (PEM).

    From `renew_at` on a fresh one is wanted, from `expires_at` on this one is worthless
    (monotonic seconds).
    """

    authorization: str = field(default="", repr=False)
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)
    renew_at: float = math.inf
    expires_at: float = math.inf


class Source(Protocol):
    """Where a credential comes from."""

    @property
    def renewable(self) -> bool:
        """Tell whether asking again may give another one."""

    def load(self, now: float) -> Credential:
        """Return a credential; Unauthorized if there is none."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A credential that is in the kubeconfig itself."""

    credential: Credential
    renewable: bool = False

    def load(self, now: float) -> Credential:
        """Return it."""
        del now
        return self.credential


@dataclass(frozen=True, slots=True)
class TokenFile:
    """A token that somebody else renews in place, as the kubelet does for service accounts."""

    path: str
    renewable: bool = True

    def load(self, now: float) -> Credential:
        """Read the file; client-go reads it again after a minute too."""
        try:
            token = Path(self.path).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Unauthorized(f"the token file {self.path} cannot be read") from error
        return Credential(bearer(token, self.path), renew_at=now + _TOKEN_FILE_SECONDS)


def bearer(token: str, origin: str) -> str:
    """Return the header's value; an empty or unprintable token is Unauthorized."""
    if not _VISIBLE.fullmatch(token):
        raise Unauthorized(f"the token of {origin} is empty or not printable")
    return f"Bearer {token}"


class Credentials:
    """The present credential; shared by all threads.

    Holds the one lock of this room: several requests that meet a 401 at once run a plugin once.

    """

    def __init__(self, source: Source, clock: Clock) -> None:
        """Load at once: without a credential there is no connection."""
        self._source = source
        self._clock = clock
        self._lock = threading.Lock()
        self._credential = source.load(clock.now())
        self.generation = 0
        self._tell: Tell = _nobody

    def tell(self, tell: Tell) -> None:
        """Call `tell` with the secrets of the present credential, and later of each new one."""
        with self._lock:
            self._tell = tell
            self._tell_secrets()

    def _tell_secrets(self) -> None:
        credential = self._credential
        self._tell(credential.authorization.rpartition(" ")[2])
        self._tell(credential.key)
        if credential.authorization.startswith("Basic "):
            pair = base64.b64decode(credential.authorization[len("Basic ") :])
            self._tell(pair.partition(b":")[2])

    def current(self) -> Credential:
        """Return a credential that has not expired; Unauthorized if there is none."""
        with self._lock:
            now = self._clock.now()
            if now >= self._credential.renew_at:
                self._reload(now)
            return self._credential

    def _reload(self, now: float) -> None:
        """Load a fresh one; while the old one is valid, a failure only means another try later."""
        try:
            self._credential = self._source.load(now)
        except Unauthorized:
            if now >= self._credential.expires_at:
                raise
            self._credential = replace(self._credential, renew_at=now + _RETRY_SECONDS)
        else:
            self.generation += 1
            self._tell_secrets()

    def renew(self, generation: int) -> bool:
        """Replace a refused credential of that generation; False if there is no other."""
        with self._lock:
            if generation != self.generation:
                return True
            if not self._source.renewable:
                return False
            self._credential = self._source.load(self._clock.now())
            self.generation += 1
            self._tell_secrets()
            return True
