"""Accept headers."""

from __future__ import annotations

import pytest

from sandbox.failure import ApiError
from sandbox.serving.negotiation import (
    Form,
    Shape,
    shape_of,
    stream_shape_of,
    wants_aggregated_discovery,
)

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@pytest.mark.parametrize(
    ("header", "shape"),
    [
        ("", Shape()),
        ("*/*", Shape()),
        ("application/json", Shape()),
        ("application/yaml", Shape(yaml=True)),
        (f"{TABLE},application/json", Shape(Form.TABLE)),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", Shape()),
        ("application/vnd.kubernetes.protobuf,application/json", Shape()),
        ("application/json;q=0.5,application/yaml;q=0.9", Shape(yaml=True)),
        ("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", Shape(Form.PARTIAL)),
    ],
)
def test_the_best_form_that_there_is(header: str, shape: Shape) -> None:
    """The first alternative that the sandbox has is taken."""
    assert shape_of(header) == shape


@pytest.mark.parametrize(
    "header",
    [
        "text/plain",
        "application/vnd.kubernetes.protobuf",
        "application/json;as=Foo;v=v1;g=meta.k8s.io",
    ],
)
def test_a_form_that_is_not_there_is_refused(header: str) -> None:
    """Protobuf and unknown forms answer 406, naming what there is."""
    with pytest.raises(ApiError, match="only the following media types are accepted") as refused:
        shape_of(header)
    assert (refused.value.status, refused.value.reason) == (406, "NotAcceptable")


def test_watches_are_json_alone() -> None:
    """YAML has no streams."""
    assert stream_shape_of(TABLE) == Shape(Form.TABLE)
    with pytest.raises(ApiError, match="stream=watch"):
        stream_shape_of("application/yaml")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (f"{AGGREGATED},application/json", True),
        (f"application/json,{AGGREGATED}", False),
        ("application/json", False),
        ("", False),
        (AGGREGATED.replace("v=v2", "v=v9") + ",application/json", False),
    ],
)
def test_aggregated_discovery_is_asked_for(header: str, expected: bool) -> None:
    """It is given where it is preferred to the groups one by one."""
    assert wants_aggregated_discovery(header) is expected
