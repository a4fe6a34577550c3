"""Addresses: what is asked, and what is never."""

from __future__ import annotations

import pytest

from gate.errors import UsageError
from gate.sources.address import Address, is_link_local

SECRET = "c4nary"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("prom.example:9090", "begin with http"),
        ("prom.example", "begin with http"),
        ("ftp://prom.example", "begin with http"),
        ("file:///etc/passwd", "begin with http"),
        ("http:prom.example", "begin with http"),
        ("http://", "names no host"),
        ("http://prom:99999", "port"),
        ("http://prom:x", "port"),
        ("http://pr om", "spaces"),
        ("http://prom\r\nHost: evil", "spaces"),
        ("http://evil\\@prom", "host|user"),
        (f"http://user:{SECRET}@prom", "user or a password"),
        (f"http://{SECRET}@prom", "user or a password"),
        ("http://[::1", "not a URL"),
    ],
)
def test_what_is_no_url_is_refused(url: str, words: str) -> None:
    """In one line that shows no credentials."""
    with pytest.raises(UsageError, match=words) as caught:
        Address.parse(url)
    assert SECRET not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.contract("B428")
@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        ("169.254.169.254", True),
        ("fe80::1%eth0", True),
        ("::ffff:169.254.169.254", True),
        ("64:ff9b::a9fe:a9fe", True),
        ("2002:a9fe:a9fe::", True),
        ("fd00:ec2::254", True),
        ("100.100.100.200", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("2001:db8::1", False),
        ("metadata.example", False),
    ],
)
def test_link_local_and_metadata_addresses_are_known(host: str, wanted: bool) -> None:
    """Also inside of IPv6."""
    assert is_link_local(host) is wanted


@pytest.mark.contract("B428")
def test_a_link_local_address_needs_its_flag() -> None:
    """The line names the flag."""
    with pytest.raises(UsageError, match="link-local") as caught:
        Address.parse("http://169.254.169.254/latest")
    assert "--allow-link-local" in caught.value.hint
    assert Address.parse("http://169.254.169.254", allow_link_local=True).port == 80
