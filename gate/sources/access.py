"""Credentials for sources: tokens, passwords, headers; from files or the environment, not flags.

Files are read again for each request, to follow rotation.
"""

from __future__ import annotations

import base64
import os
import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from gate.core.checks.questions import Trouble
from gate.core.frozen import dataclass
from gate.errors import UsageError
from gate.sources.address import Address
from gate.sources.source import make_unanswered

_LONGEST_SECRET: Final = 1 << 16
HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)
_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?", re.ASCII)
TAKEN_HEADERS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding"}
)
"""Headers that the request itself sets."""
_SHORTEST_MASKED: Final = 4


@dataclass(frozen=True, slots=True)
class SecretFile:
    """A secret in a file, which may be replaced at any time."""

    path: str

    def read(self) -> str:
        """Return the text, stripped; `Unanswered` if the file has no usable one."""
        try:
            with Path(self.path).open("rb") as file:
                content = file.read(_LONGEST_SECRET)
        except OSError as error:
            why = f"{self.path} cannot be read: {error.strerror}"
            raise make_unanswered(Trouble.CREDENTIALS, why) from error
        return _check_credential(content.decode("utf-8", "replace").strip(), self.path)


@dataclass(frozen=True, slots=True)
class SecretVariable:
    """A secret in an environment variable."""

    name: str
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)

    def read(self) -> str:
        """Return the text, stripped; `Unanswered` if the variable has no usable one."""
        return _check_credential(self.environ.get(self.name, "").strip(), self.name)


Secret = SecretFile | SecretVariable


def is_header(name: str) -> bool:
    """Tell whether a header of that name may be set."""
    return HEADER_NAME.fullmatch(name) is not None and name.lower() not in TAKEN_HEADERS


def _check_credential(text: str, origin: str) -> str:
    if not _VALUE.fullmatch(text):
        raise make_unanswered(Trouble.CREDENTIALS, f"{origin} is empty or not one printable line")
    return text


@dataclass(frozen=True, slots=True)
class Access:
    """How to authenticate to a server; holds where secrets are, never the secrets.

    `user` is the name and password of basic auth. `authority` is a file of CA certificates, ""
    for the usual ones; `certificate` and `key` are files of a client certificate. `learned` is
    called with each secret that is read.
    """

    token: Secret | None = None
    user: tuple[Secret, Secret] | None = None
    headers: tuple[tuple[str, Secret], ...] = ()
    authority: str = ""
    certificate: str = ""
    key: str = ""
    allow_plain_http: bool = False
    allow_link_local: bool = False
    learned: Callable[[str], None] | None = field(default=None, repr=False, compare=False)

    def check(self, address: Address) -> None:
        """Raise UsageError for what is not safe or cannot work, before anything is sent."""
        if self.token is not None and self.user is not None:
            raise UsageError("either a bearer token or a user and a password, not both")
        if address.scheme == "http" and self.has_secrets and not self.allow_plain_http:
            hint = "use https, or --allow-insecure"
            raise UsageError(f"credentials would go to {address} in plain text", hint=hint)
        for name, _ in self.headers:
            if not is_header(name):
                raise UsageError(f"not a header to be set: {name[:60]!a}")
        self._try_out_tls()

    @property
    def has_secrets(self) -> bool:
        """Whether requests carry secrets."""
        return self.token is not None or self.user is not None or bool(self.headers)

    def headers_for(self) -> dict[str, str]:
        """Read every secret now and return the headers; `Unanswered` if one is missing."""
        headers = {name: self._read(secret) for name, secret in self.headers}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self._read(self.token)}"
        if self.user is not None:
            user, password = self.user
            pair = f"{user.read()}:{self._read(password)}"
            if self.learned is not None:
                self.learned(pair)
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return headers

    def _read(self, secret: Secret) -> str:
        text = secret.read()
        if self.learned is not None:
            self.learned(text)
        return text

    def _try_out_tls(self) -> None:
        """Raise UsageError unless TLS can use the files; never asks for a pass phrase."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self.authority:
            try:
                context.load_verify_locations(self.authority)
            except OSError as error:
                raise UsageError(f"{self.authority} holds no certificate") from error
        if bool(self.certificate) != bool(self.key):
            raise UsageError("a client certificate needs its key, and a key its certificate")
        if self.certificate:
            try:
                context.load_cert_chain(self.certificate, self.key, lambda: "-")
            except OSError as error:
                hint = "both have to be PEM, belong together, and the key has no pass phrase"
                why = "the client certificate and its key cannot be used"
                raise UsageError(why, hint=hint) from error


def mask_header_secrets(text: str, headers: Mapping[str, str]) -> str:
    """Return `text` without the secrets of `headers`: a server may echo what it was sent."""
    for secret in _secrets(headers):
        if len(secret) >= _SHORTEST_MASKED:
            text = text.replace(secret, "***")
    return text


def _secrets(headers: Mapping[str, str]) -> Iterator[str]:
    for value in headers.values():
        scheme, _, bare = value.rpartition(" ")
        yield from (value, bare)
        if scheme == "Basic":
            yield base64.b64decode(bare).decode("utf-8", "replace").partition(":")[2]
