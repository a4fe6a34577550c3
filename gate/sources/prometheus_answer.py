"""Decodes the body of `/api/v1/query`; source of the format: Prometheus' HTTP API, v1."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from json.encoder import encode_basestring
from typing import Any, Final

from gate.core.checks.questions import COUNTED_LABEL, Counted, Form, Samples, Series, Trouble
from gate.core.model.objects import CleanText
from gate.sources.failures import page
from gate.sources.source import Unanswered, make_unanswered
from gate.wire.untrusted import clean_line

_NUMBER: Final = re.compile(r"[+-]?(?:Inf|NaN|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)", re.ASCII)
_LABEL_CHARACTERS: Final = 200
_MOST_REMARKS: Final = 3
_HARMLESS: Final = (
    "metric might not be a counter",
    "needed to be fixed for monotonicity",
    "metric might not be a gauge",
)
"""Infos (annotations since Prometheus 2.48) about names and rounding: no data is missing."""


def decode(body: bytes, content_type: str) -> Samples:
    """Return the samples of a successful answer; `Unanswered` for what is not the API's answer."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        kind = clean_line(content_type.partition(";")[0], 60) or "no content type"
        raise _bad(f"the answer is no JSON but {kind}", body)
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _bad("the answer is not JSON", body) from error
    data = _mapping(document).get("data")
    if _mapping(document).get("status") != "success" or not isinstance(data, dict):
        raise _bad("the answer is none of Prometheus' API", body)
    try:
        form = Form(str(data.get("resultType")))
        return _samples(form, data.get("result"), tuple(_remarks(document)))
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise _bad("the answer's result is malformed", b"") from error


def _bad(why: str, body: bytes) -> Unanswered:
    words = page(body)
    hint = (
        "the URL leads to no Prometheus, or to a login page before it: "
        "give the server's own URL, or the credentials that it asks for"
    )
    return make_unanswered(Trouble.BAD_ANSWER, f"{why}: {words}" if words else why, hint=hint)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _samples(form: Form, result: Any, remarks: tuple[CleanText, ...]) -> Samples:
    if form is Form.SCALAR:
        return Samples(form, (Series(_number(result[1])),), remarks)
    if form is not Form.VECTOR:
        return Samples(form, (), remarks)
    if not isinstance(result, list):
        raise TypeError("a vector is a list")
    if any("histogram" in element for element in result):
        return Samples(Form.HISTOGRAM, (), remarks)
    return Samples(form, tuple(map(_series, result)), remarks)


def _series(element: Any) -> Series:
    labels = element["metric"]
    value, text = _number(element["value"][1]), _labels(labels)
    counted = labels.get(COUNTED_LABEL)
    if not counted:
        return Series(value, text)
    pod = clean_line(str(labels.get("pod", "")), _LABEL_CHARACTERS)
    return Series(value, text, Counted(counted), _identity(labels), pod)


def _identity(labels: Mapping[str, Any]) -> str:
    """Return what tells one counter from all others: a digest of its labels, but for its name.

    Engines differ in which functions keep a name.
    """
    named = "\0".join(f"{name}\0{labels[name]}" for name in sorted(labels) if name != "__name__")
    return blake2b(named.encode(), digest_size=12).hexdigest()


def _number(text: Any) -> float:
    """Read a sample's value, which the API sends as text."""
    if not isinstance(text, str) or _NUMBER.fullmatch(text) is None:
        raise ValueError("not a sample's value")
    return float(text)


def _labels(metric: Any) -> CleanText:
    """Return a label set as PromQL writes it."""
    if not isinstance(metric, dict):
        raise TypeError("a label set is an object")
    pairs = (
        f"{name}={encode_basestring(str(value))}"
        for name, value in sorted(metric.items())
        if name != "__name__"
    )
    text = f"{metric.get('__name__', '')}{{{','.join(pairs)}}}"
    return clean_line(text, _LABEL_CHARACTERS)


def _remarks(document: Mapping[str, Any]) -> Iterator[CleanText]:
    """Yield remarks that the answer may be partial; VictoriaMetrics says so with a flag."""
    if document.get("isPartial") is True:
        yield CleanText("the server says that the answer is partial")
    said = [*_texts(document.get("warnings")), *_texts(document.get("infos"))]
    telling = [text for text in said if not any(words in text for words in _HARMLESS)]
    for text in telling[:_MOST_REMARKS]:
        yield clean_line(text)


def _texts(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []
