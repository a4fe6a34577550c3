"""A key and a certificate of its own for each run: only loopback is served, and only by TLS."""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

VALID_DAYS = 30
ADDRESSES = ("127.0.0.1", "::1")
NAMES = ("localhost",)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A self-signed certificate, its own authority, with its key; both PEM."""

    certificate: bytes
    key: bytes

    def context(self) -> ssl.SSLContext:
        """Return the server's side of TLS; `ssl` reads files alone, so they exist for a moment."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        with tempfile.TemporaryDirectory(prefix="rollout-gate-") as folder:
            path = Path(folder) / "pair.pem"
            path.touch(mode=0o600)
            path.write_bytes(self.key + self.certificate)
            context.load_cert_chain(path)
        return context


def self_signed() -> Certificate:
    """Return a fresh pair, valid from an hour ago for machines whose clocks differ."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    reached = [x509.IPAddress(ipaddress.ip_address(address)) for address in ADDRESSES]
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "rollout-gate sandbox")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=VALID_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([*reached, *map(x509.DNSName, NAMES)]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    return Certificate(
        certificate=made.public_bytes(encoding),
        key=key.private_bytes(
            encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
    )
