"""Which form of an answer is asked for: the object or its row, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sandbox.failure import ApiError
from sandbox.serving.request import JSON_TYPE

META_GROUP = "meta.k8s.io"
DISCOVERY_GROUP = "apidiscovery.k8s.io"

_ANY = ("*/*", "application/*", JSON_TYPE)


class Form(StrEnum):
    """What an object is turned into (`as=` of the media type)."""

    OBJECT = ""
    TABLE = "Table"


@dataclass(frozen=True, slots=True)
class Media:
    """One alternative of an Accept header."""

    type: str
    parameters: Mapping[str, str]
    quality: float


@dataclass(frozen=True, slots=True)
class Shape:
    """What the answer will be."""

    form: Form = Form.OBJECT


def media_types(header: str) -> Sequence[Media]:
    """Return the alternatives of an Accept header, best first; everything where it is empty."""
    found = [_media(part) for part in header.split(",") if part.strip()]
    return sorted(found, key=lambda media: -media.quality) or [Media("*/*", {}, 1.0)]


def content_type(header: str) -> str:
    """Return a Content-Type without its parameters."""
    return header.partition(";")[0].strip().lower()


def shape_of(header: str) -> Shape:
    """Return the first form that the sandbox can give; 406 where it has none of them."""
    for media in media_types(header):
        form = _form(media)
        if form is not None and media.type in _ANY:
            return Shape(form)
    raise _not_acceptable()


def wants_aggregated_discovery(header: str) -> bool:
    """Whether discovery is asked for as one document."""
    for media in media_types(header):
        given = media.parameters
        is_list = media.type == JSON_TYPE and given.get("as") == "APIGroupDiscoveryList"
        if is_list and given.get("g") == DISCOVERY_GROUP and given.get("v") == "v2":
            return True
    return False


def _not_acceptable() -> ApiError:
    """406 with what there is: neither YAML nor protobuf, nor the metadata alone."""
    why = f"the sandbox does not serve this: an answer that is neither {JSON_TYPE} nor a Table"
    return ApiError(406, "NotAcceptable", why)


def _form(media: Media) -> Form | None:
    given = media.parameters
    wanted = given.get("as", "")
    if not wanted:
        return Form.OBJECT
    known = given.get("g") == META_GROUP and given.get("v") in ("v1", "v1beta1")
    return Form.TABLE if known and wanted == Form.TABLE else None


def _media(part: str) -> Media:
    name, *pairs = (piece.strip() for piece in part.split(";"))
    parameters = {key.strip(): value.strip() for key, _, value in (p.partition("=") for p in pairs)}
    return Media(name.lower(), parameters, _quality(parameters.pop("q", "1")))


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0
