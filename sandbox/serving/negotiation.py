"""Which form of an answer is asked for: the object or its row, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox.failure import ApiError
from sandbox.serving.request import JSON_TYPE

_ANY = ("*/*", "application/*", JSON_TYPE)
_TABLES = [("Table", "meta.k8s.io", "v1"), ("Table", "meta.k8s.io", "v1beta1")]
_AGGREGATED = ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2")


@dataclass(frozen=True, slots=True)
class _Media:
    """One alternative of an Accept header."""

    type: str
    parameters: Mapping[str, str]

    @property
    def form(self) -> tuple[str, str, str]:
        """What an object is to be turned into: kind, group and version, empty for itself."""
        given = self.parameters
        return given.get("as", ""), given.get("g", ""), given.get("v", "")


def content_type(header: str) -> str:
    """Return a Content-Type without its parameters."""
    return header.partition(";")[0].strip().lower()


def wants_table(header: str) -> bool:
    """Tell whether a Table is preferred to the object itself; 406 where neither is accepted."""
    for media in _alternatives(header):
        if media.type in _ANY and media.form in _TABLES:
            return True
        if media.type in _ANY and not media.form[0]:
            return False
    why = f"the sandbox does not serve this: an answer that is neither {JSON_TYPE} nor a Table"
    raise ApiError(406, "NotAcceptable", why)


def wants_aggregated_discovery(header: str) -> bool:
    """Tell whether discovery is asked for as one document."""
    return any(
        media.type == JSON_TYPE and media.form == _AGGREGATED for media in _alternatives(header)
    )


def _alternatives(header: str) -> Sequence[_Media]:
    """Return the alternatives of an Accept header as they stand; everything where it is empty.

    Clients of Kubernetes write them best first and give no qualities.
    """
    return [_media(part) for part in header.split(",") if part.strip()] or [_Media("*/*", {})]


def _media(part: str) -> _Media:
    name, *pairs = (piece.strip() for piece in part.split(";"))
    parameters = (pair.partition("=") for pair in pairs)
    return _Media(name.lower(), {key.strip(): value.strip() for key, _, value in parameters})
