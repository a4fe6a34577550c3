"""Label and field selectors: the grammar and the refusals of a v1.36 server."""

from __future__ import annotations

import pytest

from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.objects.selectors import matches
from sandbox.storage.selection import parse_fields, parse_labels


def selected(text: str, labels: dict[str, str]) -> bool:
    """Tell whether a label selector holds for labels."""
    return matches(parse_labels(text), labels)


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("", {}, True),
        ("a=b", {"a": "b"}, True),
        ("a=b", {"a": "c"}, False),
        ("a!=b", {}, True),
        ("a!=b", {"a": "b"}, False),
        ("a in (b,c)", {"a": "c"}, True),
        ("a notin (b,c)", {}, True),
        ("a notin (b,c)", {"a": "b"}, False),
        ("a", {"a": ""}, True),
        ("!a", {"a": "b"}, False),
        ("a=", {"a": ""}, True),
        ("a in (,b)", {"a": ""}, True),
        ("a=b,c in (d),!e,f", {"a": "b", "c": "d", "f": ""}, True),
        ("x.y/a=b", {"x.y/a": "b"}, True),
        ("in in (in)", {"in": "in"}, True),
    ],
)
def test_label_selectors_select(text: str, labels: dict[str, str], expected: bool) -> None:
    """Each operator, and all of them together, select as apimachinery's do."""
    assert selected(text, labels) is expected


@pytest.mark.parametrize(
    "text", ["a in (b", "=b", "a=b=c", ",a", "!a=b", "A_/b=c", "a=" + "y" * 64]
)
def test_a_label_selector_that_is_none_is_refused(text: str) -> None:
    """The 400 repeats it; nothing is selected by a part of it."""
    with pytest.raises(ApiError, match="unable to parse requirement") as caught:
        parse_labels(text)
    assert caught.value.status == 400


POD: JSON = {
    "metadata": {"name": "p", "namespace": "shop"},
    "spec": {"nodeName": "n1", "restartPolicy": "Always", "hostNetwork": True},
    "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}]},
}
EVENT: JSON = {
    "metadata": {"name": "e", "namespace": "shop"},
    "involvedObject": {"kind": "Pod", "name": "p", "namespace": "shop"},
    "reason": "BackOff",
    "type": "Warning",
    "source": {"component": "kubelet"},
}


@pytest.mark.parametrize(
    ("resource", "text", "body", "expected"),
    [
        ("pods", "", POD, True),
        ("pods", "status.phase!=Running", POD, False),
        ("pods", "spec.nodeName=n1,metadata.namespace==shop", POD, True),
        ("pods", "spec.hostNetwork=true", POD, True),
        ("pods", "spec.nodeName=", {"metadata": {"name": "q"}}, True),
        ("pods", "spec.hostNetwork=false", {"metadata": {"name": "q"}}, True),
        ("events", "involvedObject.kind=Pod,involvedObject.name=p,reason=BackOff", EVENT, True),
        ("deployments.apps", "metadata.name=a,metadata.name=b", POD, False),
        ("configmaps", r"metadata.name=a\,b", {"metadata": {"name": "a,b"}}, True),
    ],
)
def test_field_selectors_select(resource: str, text: str, body: JSON, expected: bool) -> None:
    """The fields that a kind offers compare as strings, absent ones as their zero value."""
    assert all(term.matches(body) for term in parse_fields(resource, text)) is expected


@pytest.mark.parametrize(
    ("resource", "text"),
    [("configmaps", "foo=bar"), ("pods", "foo=1"), ("configmaps", "metadata.name")],
)
def test_a_field_that_a_kind_does_not_offer_is_refused(resource: str, text: str) -> None:
    """400: a selector that is not understood selects nothing."""
    with pytest.raises(ApiError) as caught:
        parse_fields(resource, text)
    assert caught.value.status == 400
