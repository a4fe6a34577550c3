"""Where a field stands that the server does not know."""

from __future__ import annotations

import io

import pytest

from gate.manifests.load import load
from gate.manifests.places import place_of

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  odd:
    deep: 1
  template:
    spec:
      containers:
      - name: proxy
      - name: web
        ports:
        - {containerPort: 80, protocl: TCP}
      volumes: [{name: a,
        nam: b}]
"""


@pytest.mark.contract("B233")
@pytest.mark.parametrize(
    ("path", "line"),
    [
        (".spec.odd", 6),
        (".spec.odd.deep", 7),
        ('.spec.template.spec.containers[name="web"].ports', 13),
        ('.spec.template.spec.containers[name="web"].ports[containerPort=80].protocl', 14),
        (".spec.template.spec.volumes[0].nam", 16),
        ('.spec.template.spec.containers[name="gone"].image', 10),
        (".spec.template.spec.volumes[7]", 15),
        (".status", 1),
        ("", 1),
    ],
)
def test_a_field_has_the_line_of_its_key(path: str, line: int) -> None:
    """As far as the path leads: an item by its number or by its keys."""
    [item] = load(["-"], stdin=io.BytesIO(WEB.encode())).objects
    assert str(place_of(item, path)) == f"<stdin>:{line}"
