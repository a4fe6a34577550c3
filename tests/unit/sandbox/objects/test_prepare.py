"""What creation and updates set, beyond the golden answers."""

from __future__ import annotations

import pytest

from sandbox.failure import ApiError
from sandbox.json import JSON, copy_json
from sandbox.kinds import BY_KEY
from sandbox.objects import fill_defaults, prepared_for_create
from sandbox.objects.prepare import quality_class
from tests.table import each
from tests.unit.sandbox.objects.cases import Case, all_cases

SERVICE = BY_KEY["services"]


def _service(**spec: object) -> JSON:
    return fill_defaults(
        SERVICE, {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}], **spec}}
    )


@each("case", all_cases(), ids=lambda case: case.name)
def test_preparing_changes_nothing_in_place(case: Case) -> None:
    """What is given to it stays as it is, so that stored objects may be given."""
    try:
        body = fill_defaults(case.resource, case.body)
        before = copy_json(body)
        prepared_for_create(case.resource, body)
    except ApiError:
        return
    assert body == before


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ([{}], "BestEffort"),
        ([{"requests": {"cpu": "0"}}], "BestEffort"),
        ([{"requests": {"cpu": "1"}}], "Burstable"),
        ([{"requests": {"example.com/gpu": "1"}}], "BestEffort"),
        ([{side: {"cpu": "1", "memory": "1Gi"} for side in ("limits", "requests")}], "Guaranteed"),
        (
            [{side: {"cpu": "1", "memory": "1Gi"} for side in ("limits", "requests")}, {}],
            "Burstable",
        ),
        ([{"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1"}}], "Burstable"),
    ],
)
def test_the_quality_class_follows_limits_and_requests(resources: list[JSON], quality: str) -> None:
    """Guaranteed needs both limits of every container, met by the requests."""
    spec = {"containers": [{"name": "a", "resources": each} for each in resources]}
    assert quality_class(spec) == quality


def test_node_ports_come_to_an_end() -> None:
    """500, as the range is full."""
    taken = {str(number) for number in range(30000, 32768)}
    with pytest.raises(ApiError, match="failed to allocate a nodePort: range is full"):
        prepared_for_create(SERVICE, _service(type="NodePort"), taken)
