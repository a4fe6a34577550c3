"""Canaries everywhere: none of them comes out, and what is equal stays equal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.core.ssa import managed_fields
from gate.wire.masking import Masker

CANARY = "s3cr3t-canary"
CONTAINER: dict[str, Any] = {
    "name": "web",
    "image": "shop/web:1",
    "command": ["sh", "-c", f"login {CANARY}"],
    "args": [f"--password={CANARY}"],
    "env": [
        {"name": "TOKEN", "value": CANARY},
        {"name": "FROM", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
    ],
    "workingDir": f"/{CANARY}",
    "resources": {"limits": {"cpu": "1"}},
    "readinessProbe": {
        "periodSeconds": 5,
        "httpGet": {
            "path": f"/healthz?token={CANARY}",
            "port": "http",
            "httpHeaders": [{"name": "Authorization", "value": f"Bearer {CANARY}"}],
        },
    },
    "lifecycle": {"preStop": {"exec": {"command": ["bye", CANARY]}}},
}
POD_SPEC: dict[str, Any] = {
    "containers": [CONTAINER],
    "initContainers": [{**CONTAINER, "name": "init"}],
    "volumes": [
        {"name": "a", "csi": {"driver": "x", "volumeAttributes": {"name": CANARY}}},
        {"name": "b", "flexVolume": {"options": {"key": CANARY}}},
        {"name": "c", "aFieldOfTomorrow": {"token": CANARY, "list": [CANARY]}},
    ],
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": [CANARY]}],
}
ANNOTATIONS = {
    "kubectl.kubernetes.io/last-applied-configuration": json.dumps({"env": CANARY}),
    "kubernetes.io/change-cause": f"kubectl set env deploy/web TOKEN={CANARY}",
    "ad.datadoghq.com/web.instances": f'[{{"password": "{CANARY}"}}]',
    "deployment.kubernetes.io/revision": "2",
}
META: dict[str, Any] = {
    "name": "web",
    "namespace": "shop",
    "uid": "u",
    "labels": {"app": "web"},
    "annotations": ANNOTATIONS,
    "managedFields": [
        {"manager": "kubectl-edit", "operation": "Update", "fieldsV1": {f"f:{CANARY}": {}}}
    ],
}
TEMPLATE = {"metadata": {"labels": {"app": "web"}, "annotations": ANNOTATIONS}, "spec": POD_SPEC}


def of_kind(kind: str, **parts: Any) -> dict[str, Any]:
    """Make an object of a kind, with canaries in its metadata too."""
    return {"apiVersion": "v1", "kind": kind, "metadata": META, **parts}


OBJECTS = [
    of_kind("Deployment", spec={"replicas": 2, "template": TEMPLATE}),
    of_kind("ReplicaSet", spec={"template": TEMPLATE}),
    of_kind("Pod", spec=POD_SPEC, status={"podIP": CANARY, "phase": "Running"}),
    of_kind("Event", reason="x", source={"host": CANARY}, related={"x": CANARY}),
    of_kind("Secret", type="Opaque", data={"name": CANARY}, stringData={"message": CANARY}),
    of_kind("ConfigMap", data={"image": CANARY, "kind": CANARY}, binaryData={"reason": CANARY}),
    of_kind("Thing", spec={"name": CANARY, "status": [CANARY], "labels": {"x": CANARY}}),
    of_kind("Thing", status={"message": CANARY}, name=CANARY),
]


@pytest.mark.contract("B252", "B277")
@pytest.mark.parametrize("found", OBJECTS, ids=lambda found: found["kind"])
def test_no_canary_comes_out(found: dict[str, Any]) -> None:
    """Secrets stand in no byte of a masked object, wherever somebody put them."""
    assert CANARY in json.dumps(found)
    assert CANARY not in json.dumps(Masker().mask_object(found))


@pytest.mark.contract("B277")
def test_what_a_rollout_is_judged_by_is_kept() -> None:
    """Names, images, numbers, labels, the revision and the states stay as they are."""
    status: dict[str, Any] = {
        "phase": "Pending",
        "conditions": [{"type": "Ready", "status": "False", "message": "not \x1b[1myet"}],
        "containerStatuses": [
            {"name": "web", "imageID": "sha256:1", "restartCount": 3, "ready": False, "state": {}}
        ],
    }
    found = Masker().mask_object(of_kind("Deployment", spec={"replicas": 2, "template": TEMPLATE}))
    pod = Masker().mask_object(of_kind("Pod", spec=POD_SPEC, status=status))
    status["conditions"][0]["message"] = "not yet"
    assert pod["status"] == status
    container = found["spec"]["template"]["spec"]["containers"][0]
    assert (container["name"], container["image"]) == ("web", "shop/web:1")
    assert container["resources"] == {"limits": {"cpu": "1"}}
    assert found["spec"]["replicas"] == 2
    metadata = found["metadata"]
    assert (metadata["name"], metadata["uid"], metadata["labels"]) == ("web", "u", {"app": "web"})
    assert metadata["annotations"]["deployment.kubernetes.io/revision"] == "2"
    replaceable = {"rollout-gate.dev/replace-failed": "true"}
    job = Masker().mask_object({"kind": "Job", "metadata": {"annotations": replaceable}})
    assert job["metadata"]["annotations"] == replaceable


@pytest.mark.contract("B277")
def test_equal_stays_equal_and_different_different() -> None:
    """Templates of owner and owned compare as before, in one recording."""
    masker = Masker()
    owner = masker.mask_object(of_kind("Deployment", spec={"template": TEMPLATE}))
    owned = masker.mask_object(of_kind("ReplicaSet", spec={"template": TEMPLATE}))
    other = json.loads(json.dumps(TEMPLATE).replace(f"--password={CANARY}", "--password=x"))
    third = masker.mask_object(of_kind("ReplicaSet", spec={"template": other}))
    assert owner["spec"] == owned["spec"] != third["spec"]


def test_numbers_of_kinds_that_nobody_knows_are_masked_too() -> None:
    """A PIN is a number; yes, no and nothing tell nothing."""
    spec = {"pin": 274905, "list": [274905, 1.5], "on": True, "none": None, "empty": ""}
    masked = Masker().mask_object(of_kind("Thing", spec=spec))["spec"]
    assert "274905" not in json.dumps(masked)
    assert masked["pin"] == masked["list"][0] != masked["list"][1]
    assert (masked["on"], masked["none"], masked["empty"]) == (True, None, "")


@given(st.text(), st.text())
def test_a_text_is_masked_alike_under_one_key_only(one: str, two: str) -> None:
    """The key is random: what stands for a text cannot be told without its recording."""
    masker = Masker()
    assert (masker.text(one) == masker.text(two)) == (one == two)
    if one:
        assert masker.text(one) != Masker().text(one)
        assert masker.text(one).startswith("masked:")
        assert len(masker.text(one)) == len("masked:") + 16


@pytest.mark.contract("B277")
def test_what_our_apply_owned_is_kept_and_fits_the_masked_values() -> None:
    """Keys and set items with values in them are masked as the values that they select."""
    spec = {
        "template": {
            "spec": {
                "hostAliases": [
                    {"ip": CANARY, "hostnames": ["a"]},
                    {"ip": "other", "hostnames": ["b"]},
                ],
                "containers": [
                    {"name": "web", "image": "web:1", "env": [{"name": "A", "value": CANARY}]}
                ],
            }
        },
        "loadBalancerSourceRanges": [CANARY, "theirs"],
    }
    alias = "k:" + json.dumps({"ip": CANARY})
    variable: dict[str, Any] = {".": {}, "f:name": {}, "f:value": {}}
    fields = {
        "f:spec": {
            "f:template": {
                "f:spec": {
                    "f:hostAliases": {alias: {".": {}, "f:ip": {}, "f:hostnames": {}}},
                    "f:containers": {
                        'k:{"name":"web"}': {".": {}, "f:env": {'k:{"name":"A"}': variable}}
                    },
                }
            },
            "f:loadBalancerSourceRanges": {f'v:"{CANARY}"': {}},
        }
    }
    entry = {"manager": "rollout-gate", "operation": "Apply", "fieldsV1": fields}
    found = {**of_kind("Deployment", spec=spec), "metadata": {**META, "managedFields": [entry]}}
    masked = Masker().mask_object(found)
    assert CANARY not in json.dumps(masked)
    owned = managed_fields.owned_fields(masked["metadata"]["managedFields"])
    assert owned is not None
    assert (
        len(managed_fields.extract(masked, owned)["spec"]["template"]["spec"]["hostAliases"]) == 1
    )
    assert (
        managed_fields.extract(masked, owned)["spec"]["loadBalancerSourceRanges"]
        == masked["spec"]["loadBalancerSourceRanges"][:1]
    )
    changed = json.loads(json.dumps(masked))
    changed["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] = "masked:else"
    assert managed_fields.still_holds(masked, owned, masked)
    assert not managed_fields.still_holds(masked, owned, changed)


def test_other_managers_are_left_out_and_what_they_own_in_our_maps_is_known() -> None:
    """`annotations: {}` of ours is recorded as such, where another manager filled it."""
    ours: dict[str, Any] = {"f:spec": {"f:template": {"f:metadata": {"f:annotations": {}}}}}
    filled: dict[str, Any] = {"f:annotations": {"f:checksum": {}}}
    theirs = {"f:spec": {"f:template": {"f:metadata": filled}}}
    managed = [
        {"manager": "reloader", "operation": "Update", "fieldsV1": theirs},
        {"manager": "rollout-gate", "operation": "Apply", "fieldsV1": ours},
    ]
    found = {**of_kind("Deployment"), "metadata": {**META, "managedFields": managed}}
    (entry,) = Masker().mask_object(found)["metadata"]["managedFields"]
    annotations = entry["fieldsV1"]["f:spec"]["f:template"]["f:metadata"]["f:annotations"]
    assert (entry["manager"], annotations) == ("rollout-gate", {".": {}})
    assert "managedFields" not in Masker().mask_object(of_kind("Pod"))["metadata"]
