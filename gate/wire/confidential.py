"""A confidential body as text for a Secret, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.core.model.body import Body
from gate.core.model.confidential_bodies import ConfidentialBody
from gate.wire.packed import pack, unpack


def confidential_text(one: ConfidentialBody) -> str:
    """Return the text of a body together with what its digest is computed from."""
    return pack({"kind": one.kind, "uid": one.uid, "body": one.body.thaw()})


def read_confidential(text: str) -> ConfidentialBody:
    """Read a body; DecodeError for anything else. The caller has to compare its digest."""
    return unpack(text, _body_of)


def _body_of(value: Mapping[str, Any]) -> ConfidentialBody:
    return ConfidentialBody(str(value["kind"]), str(value["uid"]), Body.of(value["body"]))
