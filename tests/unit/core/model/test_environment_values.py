"""Environment values are left out of whatever holds a pod, and put back from a pod template."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.model.body import Body
from gate.core.model.environment_values import names_images, with_values, without_values
from gate.core.model.objects import Template
from gate.core.ssa.last_applied import LAST_APPLIED, with_last_applied, without_last_applied

SECRET = "hunter2-hunter2"
PODS: dict[str, Any] = {
    "containers": [
        {"name": "web", "env": [{"name": "PASSWORD", "value": SECRET}, {"name": "EMPTY"}]}
    ],
    "initContainers": [
        {"name": "init", "env": [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "x"}}}]}
    ],
}
BODIES: dict[str, dict[str, Any]] = {
    "Deployment": {"spec": {"template": {"spec": PODS}}},
    "CronJob": {"spec": {"jobTemplate": {"spec": {"template": {"spec": PODS}}}}},
    "Pod": {"spec": PODS},
    "List": {"items": [{"spec": PODS}]},
}


@pytest.mark.contract("B702")
@pytest.mark.parametrize("kind", BODIES)
def test_values_are_left_out_wherever_the_pods_are(kind: str) -> None:
    """And come back from a template that has them; without one there is no body."""
    body = Body.of(BODIES[kind])
    bare = without_values(body)
    assert SECRET not in bare.canonical.decode()
    assert with_values(bare, Template(Body.of({"spec": PODS}), ())) == body
    assert with_values(bare, None) is None


@pytest.mark.contract("B702")
def test_a_body_without_values_is_whole_without_a_template() -> None:
    """A ConfigMap whose data looks like an environment stays as it is."""
    body = Body.of({"data": {"env": "PASSWORD=x"}})
    assert with_values(without_values(body), None) == body


@pytest.mark.contract("B1690")
def test_an_image_of_others_comes_from_the_template() -> None:
    """One that the body names stays; of a container that the template lacks there is none."""

    def workload(**images: str | None) -> Body:
        named = (
            {"name": one, **({"image": image} if image else {})} for one, image in images.items()
        )
        return Body.of({"spec": {"template": {"spec": {"containers": [*named]}}}})

    pods = {"containers": [{"name": "web", "image": "web:2"}, {"name": "log", "image": "log:2"}]}
    whole = with_values(
        workload(web=None, log="log:1", other=None), Template(Body.of({"spec": pods}), ())
    )
    assert whole == workload(web="web:2", log="log:1", other=None)
    assert names_images(workload(web="web:2"))
    assert not names_images(workload(web=None))


@pytest.mark.contract("B65")
def test_kubectls_annotation_is_made_of_the_rest() -> None:
    """It is no part of what is remembered, and is written again where an object carries it."""
    body = {"kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "b"}}
    noted = with_last_applied(body)
    assert without_last_applied(noted) == body
    assert '"data":{"a":"b"}' in noted["metadata"]["annotations"][LAST_APPLIED]
    assert with_last_applied(noted) == noted
