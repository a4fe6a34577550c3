"""Addresses of sources: checked when parsed, and again once a name is resolved.

Link-local addresses are where clouds serve the credentials of a machine.
"""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import SplitResult, urlsplit

from gate.core.frozen import dataclass
from gate.errors import UsageError

_PORTS: Final = {"http": 80, "https": 443}
_METADATA: Final = frozenset(
    map(ipaddress.ip_address, ("fd00:ec2::254", "100.100.100.200", "192.0.0.192"))
)
"""Where Amazon (IPv6), Alibaba and Oracle serve theirs."""
PROMETHEUS: Final = "https://prometheus.example:9090"
SERVICE: Final = "https://web.example/healthz"
"""Example URLs, for hints."""
_TRANSLATED: Final = ipaddress.ip_network("64:ff9b::/96")
"""IPv4 addresses behind NAT64 (RFC 6052)."""


@dataclass(frozen=True, slots=True)
class Address:
    """An `http` or `https` URL without credentials; `origin` is scheme, host and port."""

    url: str
    scheme: str
    host: str
    port: int

    @classmethod
    def parse(
        cls, text: str, *, allow_link_local: bool = False, example: str = PROMETHEUS
    ) -> Address:
        """Parse a URL; UsageError says what is wrong with it without showing credentials.

        `example` is a URL of the expected kind, for the error's hint.
        """
        hint = f"as in {example}"
        parts = _split(text, hint)
        if parts.username is not None or parts.password is not None:
            advice = "credentials come from files or the environment"
            raise UsageError("a URL cannot hold a user or a password", hint=advice)
        host, port = _host(parts, text, hint)
        if not allow_link_local and is_link_local(host):
            raise UsageError(f"{host} is a link-local or metadata address", hint=ALLOW)
        return cls(text, parts.scheme, host, port or _PORTS[parts.scheme])

    @property
    def origin(self) -> tuple[str, str, int]:
        """What credentials are bound to."""
        return (self.scheme, self.host, self.port)

    def __str__(self) -> str:
        """Return scheme and host, and the port if it is not the scheme's default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == _PORTS[self.scheme]
        return f"{self.scheme}://{host}" + ("" if usual else f":{self.port}")


ALLOW: Final = "--allow-link-local asks it all the same"


def is_link_local(host: str) -> bool:
    """Tell whether an IP address is link-local or a known metadata address; False for a name."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        address = _extract_ipv4(address) or address
    return address.is_link_local or address in _METADATA


def _extract_ipv4(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def _split(text: str, hint: str) -> SplitResult:
    if not text.isascii() or not text.isprintable() or " " in text:
        why = "a URL cannot hold spaces, control characters or other than ASCII"
        raise UsageError(why, hint=hint)
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise UsageError("not a URL", hint=hint) from error
    if parts.scheme not in _PORTS or not text.startswith(f"{parts.scheme}://"):
        raise UsageError("a URL has to begin with http:// or https://", hint=hint)
    return parts


def _host(parts: SplitResult, text: str, hint: str) -> tuple[str, int | None]:
    try:
        host, port = parts.hostname, parts.port
    except ValueError as error:
        why = f"the port of the URL is no number: {parts.scheme}://..."
        raise UsageError(why, hint=hint) from error
    if not host or "\\" in text:
        raise UsageError("the URL names no host", hint=hint)
    return host, port
