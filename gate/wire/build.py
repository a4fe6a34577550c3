"""Parts that objects of several kinds share, as core values: text is cleaned.

Templates, which rarely change and cost most, are decoded once and then looked up by their bytes.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from msgspec.json import Decoder

from gate.core.model import objects as core
from gate.core.model.body import Body
from gate.wire import shapes
from gate.wire.untrusted import clean_line

_CACHED_TEMPLATES: Final = 256
_CACHED_LINES: Final = 8192
_LONGEST_NUMBER: Final = 20
_SHORT_CHARACTERS: Final = 253
"""Names of objects are no longer (Kubernetes: DNS subdomain names)."""

_NO_TEXT: Final = core.CleanText("")
_TEMPLATE: Final = Decoder(shapes.PodTemplate)
_OBJECT: Final = Decoder(dict[str, Any])


def conditions(found: list[shapes.Condition] | None) -> tuple[core.Condition, ...]:
    """Return `status.conditions`, none if there are none."""
    return tuple(
        core.Condition(
            line(c.type), line(c.status), line(c.reason), line(c.message), line(c.last_update_time)
        )
        for c in found or ()
    )


def owner_uid(meta: shapes.Meta) -> str:
    """Return the uid of the object's controller, "" without one."""
    return next((o.uid or "" for o in meta.owner_references or () if o.controller), "")


def line(text: str | None) -> core.CleanText:
    """Return a text as one clean line, "" if it is missing."""
    if not text:
        return _NO_TEXT
    return _short_line(text) if len(text) <= _SHORT_CHARACTERS else clean_line(text)


@functools.lru_cache(maxsize=_CACHED_LINES)
def _short_line(text: str) -> core.CleanText:
    """Clean a name, a uid or an image, cached: the next change of the same object repeats it."""
    return clean_line(text)


def number(text: str | None) -> int | None:
    """Return the number that an annotation holds, None if it holds none."""
    if text is None or not text.isdecimal() or len(text) >= _LONGEST_NUMBER:
        return None
    return int(text)


@functools.lru_cache(maxsize=_CACHED_TEMPLATES)
def template(raw: bytes, controllers_label: str = "") -> core.Template:
    """Return a pod template, without the label that the controller adds; ValueError if missing.

    Without what only the keeping of it adds, so that one that a ControllerRevision keeps equals
    the live one: the directive of a patch, and a time of creation that older writers leave empty.
    """
    if not raw:
        raise ValueError("no spec.template")
    found, value = _TEMPLATE.decode(raw), _OBJECT.decode(raw)
    if found.metadata and found.metadata.labels:
        value["metadata"]["labels"].pop(controllers_label, None)
    value.pop("$patch", None)
    if (value.get("metadata") or {}).get("creationTimestamp", "") is None:
        del value["metadata"]["creationTimestamp"]
    spec = found.spec or shapes.PodSpec()
    inits = [_build_container(each, init=True) for each in spec.init_containers or ()]
    mains = [_build_container(each, init=False) for each in spec.containers or ()]
    return core.Template(body=Body.of(value), containers=(*inits, *mains))


def _build_container(found: shapes.TemplateContainer, *, init: bool) -> core.Container:
    return core.Container(line(found.name), line(found.image), init)
