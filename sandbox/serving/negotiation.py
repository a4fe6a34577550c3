"""Which form of an answer is asked for: JSON or YAML, the object, its row or its metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sandbox.failure import ApiError
from sandbox.serving.request import JSON_TYPE, YAML_TYPE

META_GROUP = "meta.k8s.io"
DISCOVERY_GROUP = "apidiscovery.k8s.io"

_ANY = ("*/*", "application/*", JSON_TYPE)
_BOTH = f"{JSON_TYPE}, {YAML_TYPE}"


class Form(StrEnum):
    """What an object is turned into (`as=` of the media type)."""

    OBJECT = ""
    TABLE = "Table"
    PARTIAL = "PartialObjectMetadata"
    PARTIAL_LIST = "PartialObjectMetadataList"


_FORMS = {str(form): form for form in Form}


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
    yaml: bool = False


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
        if form is not None and media.type == YAML_TYPE:
            return Shape(form, yaml=True)
    raise not_acceptable()


def stream_shape_of(header: str) -> Shape:
    """Return the form of a watch's events, which are JSON alone."""
    for media in media_types(header):
        form = _form(media)
        if form is not None and media.type in _ANY:
            return Shape(form)
    raise not_acceptable(f"{JSON_TYPE};stream=watch")


def wants_aggregated_discovery(header: str) -> bool:
    """Whether discovery is asked for as one document."""
    for media in media_types(header):
        given = media.parameters
        if media.type == JSON_TYPE and given.get("as") == "APIGroupDiscoveryList":
            if given.get("g") == DISCOVERY_GROUP and given.get("v") == "v2":
                return True
        elif media.type in _ANY and not given.get("as"):
            return False
    return False


def not_acceptable(types: str = _BOTH) -> ApiError:
    """406 with what there is."""
    return ApiError(406, "NotAcceptable", f"only the following media types are accepted: {types}")


def _form(media: Media) -> Form | None:
    given = media.parameters
    wanted = given.get("as", "")
    if not wanted:
        return Form.OBJECT
    known = given.get("g") == META_GROUP and given.get("v") in ("v1", "v1beta1")
    return _FORMS.get(wanted) if known else None


def _media(part: str) -> Media:
    name, *pairs = (piece.strip() for piece in part.split(";"))
    parameters = {key.strip(): value.strip() for key, _, value in (p.partition("=") for p in pairs)}
    return Media(name.lower(), parameters, _quality(parameters.pop("q", "1")))


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0
