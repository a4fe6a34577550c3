"""Errors of the network, HTTP and Prometheus' API, classified where they enter the gate."""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any, Final

import requests

from gate.core.checks.questions import Errored, Trouble
from gate.core.model.objects import CleanText
from gate.sources.dialing import BrokenOff, LinkLocalError, NotConnected, TimedOut
from gate.wire.untrusted import clean_line

_PAGE_CHARACTERS: Final = 160
_LOCATION_CHARACTERS: Final = 200
_LONGEST_PAUSE_SECONDS: Final = 60.0
_POSITION: Final = re.compile(r"\b([0-9]{1,6}):([0-9]{1,6}): parse error")
_OF_STATUS: Final = {
    400: Trouble.BAD_QUERY,
    401: Trouble.UNAUTHORIZED,
    403: Trouble.FORBIDDEN,
    404: Trouble.NOT_FOUND,
    422: Trouble.BAD_QUERY,
    429: Trouble.OVERLOADED,
}
_HINTS: Final = {
    Trouble.UNAUTHORIZED: "the credentials are missing, wrong or expired (--prometheus-token-file)",
    Trouble.FORBIDDEN: "these credentials may not ask this",
    Trouble.NOT_FOUND: "the URL has to end before /api/v1, with the server's own prefix if any",
    Trouble.REDIRECTED: "give the URL that it redirects to",
    Trouble.NAME: "is the name of the server right?",
    Trouble.UNREACHABLE: "is the server up, and reachable from here?",
    Trouble.REFUSED: "is the server up, and the port right?",
}
_AUTHORITY: Final = (
    "name the file of its certificate authority: --prometheus-ca-file, or ca-file of its service"
)
_DISTRUST: Final = (
    ("expired", "the server needs a certificate that is valid now"),
    ("mismatch", "give a URL with a name that the certificate holds"),
)


def from_transport(error: Exception, server: str) -> Errored:
    """Classify an error of `requests`, TLS or the socket; `server` is for the message."""
    chain = list(_chain(error))
    found = next((each for each in chain if isinstance(each, LinkLocalError)), None)
    if found is not None:
        return _make_errored(Trouble.ADDRESS, f"{server}: {found}")
    if _any(chain, socket.gaierror):
        return _make_errored(Trouble.NAME, f"the name of {server} does not resolve")
    match error:
        case requests.exceptions.SSLError() if not _any(chain, ssl.SSLEOFError):
            why, hint = _tls(str(error))
            return Errored(clean_line(f"no TLS with {server}: {why}"), Trouble.TLS, hint)
        case requests.exceptions.ProxyError():
            return _make_errored(Trouble.UNREACHABLE, f"cannot reach {server} through its proxy")
        case requests.exceptions.Timeout():
            return _make_errored(Trouble.TIMED_OUT, f"{server} did not answer in time")
    if _any(chain, ConnectionRefusedError):
        return _make_errored(Trouble.REFUSED, f"{server} refuses the connection")
    # urllib3's NewConnectionError inherits from its timeout error, but is none.
    if _any(chain, TimedOut, TimeoutError) and not _any(chain, NotConnected):
        return _make_errored(Trouble.TIMED_OUT, f"{server} did not answer in time")
    if _any(chain, ConnectionError, BrokenOff):
        return _make_errored(Trouble.REFUSED, f"the connection to {server} broke")
    return _make_errored(Trouble.UNREACHABLE, f"cannot reach {server}: {_last_words(error)}")


def _any(chain: list[BaseException], *kinds: type[BaseException]) -> bool:
    return any(isinstance(each, kinds) for each in chain)


def _chain(error: BaseException | None, depth: int = 8) -> Iterator[BaseException]:
    """Yield an error and what it wraps: requests and urllib3 hide the cause in several places."""
    if error is None or depth == 0:
        return
    yield error
    wrapped = [*error.args, getattr(error, "reason", None), error.__cause__]
    for inner in wrapped:
        if isinstance(inner, BaseException):
            yield from _chain(inner, depth - 1)


def _tls(text: str) -> tuple[str, str]:
    """Return why TLS failed, in OpenSSL's words, and what to do."""
    untrusted = re.search(r"certificate verify failed: ([^(]+)", text)
    if untrusted is not None:
        why = untrusted[1].strip()
        hints = (hint for words, hint in _DISTRUST if words in why.lower())
        return f"its certificate is not trusted: {why}", next(hints, _AUTHORITY)
    if "wrong_version_number" in text.lower().replace(" ", "_"):
        return "it does not speak TLS", "give a URL with http://, or the port that speaks TLS"
    return _last_words(text), "does it want a client certificate, or another version of TLS?"


def _last_words(error: object) -> str:
    return clean_line(str(error)).rpartition(": ")[2].strip("()'\" ")[:_PAGE_CHARACTERS]


def location(headers: Mapping[str, str]) -> CleanText:
    """Return a redirect's target, "" for none, without its query, which may hold a token."""
    path, mark, _ = headers.get("location", "").partition("#")[0].partition("?")
    return clean_line(f"{path}{mark and '?...'}", _LOCATION_CHARACTERS)


def from_status(status: int, headers: Mapping[str, str], body: bytes, server: str) -> Errored:
    """Classify an unsuccessful response of Prometheus' API; `headers` in lower case."""
    said = _read_message(body)
    message = f"{server} answered {status}" + (f": {said}" if said else "")
    if 300 <= status < 400:  # noqa: PLR2004 - the class of HTTP statuses
        to = location(headers) or "nowhere"
        return _make_errored(Trouble.REDIRECTED, f"{server} redirects to {to}")
    trouble = _OF_STATUS.get(status)
    if trouble is None:
        transient = status >= 500  # noqa: PLR2004 - as above
        trouble = Trouble.SERVER_FAILED if transient else Trouble.BAD_ANSWER
    position = _POSITION.search(said) if trouble is Trouble.BAD_QUERY else None
    return Errored(
        clean_line(message),
        trouble,
        _HINTS.get(trouble, ""),
        (int(position[1]), int(position[2])) if position else None,
        _seconds(headers.get("retry-after")),
    )


def _read_message(body: bytes) -> str:
    """Return the API's own message, or the first words of a proxy's page."""
    document = _document(body)
    if document is not None and document.get("error"):
        return clean_line(str(document["error"]))
    return page(body)


def _document(body: bytes) -> Mapping[str, Any] | None:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def page(body: bytes) -> str:
    """Return the first words of a body, without the tags of a page."""
    text = body[: 1 << 14].decode("utf-8", "replace")
    words = re.sub(r"(?s)<(script|style).*?</\1>|<[^>]*>", " ", text)
    return clean_line(" ".join(words.split()), _PAGE_CHARACTERS)


def _seconds(value: str | None) -> float | None:
    """Read Retry-After, at most a minute; None for a date."""
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return min(max(0.0, seconds), _LONGEST_PAUSE_SECONDS) if seconds == seconds else None  # noqa: PLR0124


def _make_errored(trouble: Trouble, why: str) -> Errored:
    return Errored(clean_line(why), trouble, _HINTS.get(trouble, ""))
