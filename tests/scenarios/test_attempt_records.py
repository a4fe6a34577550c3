"""The record of an attempt: what it keeps, what cannot be read, and what it may name."""

from __future__ import annotations

import json

import pytest

from gate.wire.packed import pack, unpack
from tests.bed.expectations import (
    assert_refused,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.invariants import CANARY
from tests.bed.leases import held_locks
from tests.bed.policies import Policies, When
from tests.bed.scene import Scene, secret, settings, web
from tests.cluster.kubelet.api import JSON
from tests.long import longer
from tests.played.gate import PlayedGate
from tests.scenarios.killing import (
    LEASE,
    RECORD,
    SLOW,
    annotate,
    kill_apply,
    lease,
    recover,
    signal_at,
)
from tests.scenarios.two_namespaces import (
    die_over_two_namespaces,
    placed_in,
    prod,
    settings_in_prod,
)
from tests.scenarios.versions import CRASH

pytestmark = pytest.mark.sandbox_only("minutes of waiting")

RBAC = "rbac.authorization.k8s.io/v1"


@pytest.mark.contract("B542", "B713")
def test_secrets_are_kept_beside_the_lease(scene: Scene, program: PlayedGate) -> None:
    """A Secret that belongs to the Lease holds them; the annotations do not.

    They hold environment values while the attempt is open; afterwards nothing does.
    """
    scene.serve(web(), secret("one"))
    kill_apply(scene, program, web(2, behaviour=SLOW), secret("two"))
    kept = scene.objects.get("secrets", LEASE)
    [owner] = kept["metadata"]["ownerReferences"]
    assert owner["uid"] == lease(scene)["metadata"]["uid"]
    record = unpack(lease(scene)["metadata"]["annotations"][RECORD], json.dumps)
    assert CANARY in record
    assert not any(value in record for value in ("b25l", "dHdv"))
    assert recover(scene).exit_code == 4
    assert scene.objects.get("secrets", "keys")["data"]["key"] == "b25l"
    assert not scene.objects.find("secrets", LEASE)
    after = lease(scene)["metadata"]["annotations"]
    assert RECORD not in after
    assert CANARY not in unpack(after["rollout-gate/history"], json.dumps)


@pytest.mark.contract("B1946", "B544", "B535")
@pytest.mark.parametrize("is_ours", [True, False])
def test_secrets_stay_beside_a_record_that_a_signal_leaves_open(
    scene: Scene, program: PlayedGate, is_ours: bool
) -> None:
    """`recover` returns the Secret with the version, by what its own attempt kept alone."""
    scene.serve(web(), secret("one"))
    path = scene.manifest(web(2, behaviour="never-ready"), secret("two"))
    signal_at(program, UNDER_WAY, "apply", "-f", path, "--on-interrupt", "keep")
    if not is_ours:
        theirs = {"metadata": {"annotations": {"rollout-gate/attempt": "another"}}}
        scene.objects.patch("secrets", LEASE, theirs)
    assert recover(scene).exit_code == (4 if is_ours else 5)
    is_now = "b25l" if is_ours else "dHdv"
    assert scene.objects.get("secrets", "keys")["data"]["key"] == is_now


@pytest.mark.long
@pytest.mark.contract("B543")
def test_a_record_that_cannot_be_read(scene: Scene, program: PlayedGate) -> None:
    """It needs a person, and is no reason to stop the next version."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    annotate(scene, {RECORD: "H4sIAAAA"})
    result = recover(scene)
    assert result.exit_code == 5
    assert "cannot be read" in result.stderr
    next_one = scene.apply(web(3), settings())
    assert_verified(next_one)
    assert warned(next_one, "cannot be read")


@pytest.mark.contract("B549")
def test_a_record_can_name_no_more_than_a_manifest(scene: Scene, program: PlayedGate) -> None:
    """Whoever may write Leases makes nobody write a Role; no other run drops that record."""
    scene.serve(web(), settings())
    kill_apply(scene, program, web(2, behaviour=SLOW), settings("b"))
    written = json.dumps(unpack(lease(scene)["metadata"]["annotations"][RECORD], dict))
    assert '"ConfigMap"' in written
    forged = written.replace('"ConfigMap"', '"Role"').replace('"v1"', f'"{RBAC}"')
    annotate(scene, {RECORD: pack(json.loads(forged))})
    result = recover(scene)
    assert (result.exit_code, result.stderr.count("--allow-kind Role")) == (5, 1), str(result)
    refused = program("apply", "-f", scene.manifest(web(3)))
    assert_refused(refused, "Usage", "nothing else is written before that attempt is finished")
    assert "finish it first: rollout-gate recover web -n shop" in refused.stderr
    assert "--allow-kind Role" in refused.stderr
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
    assert RECORD in lease(scene)["metadata"]["annotations"]


def leave_two_of_which_one_is_broken(scene: Scene, program: PlayedGate) -> None:
    """Kill the gates of two attempts, and break the record of the first."""
    scene.serve(web(name="api"), web())
    for name in ("api", "web"):
        kill_apply(
            scene, program, web(2, name=name, behaviour=SLOW), line=f"deployment/{name} changed"
        )
    annotate(scene, {RECORD: "H4sIAAAA"}, "rollout-gate.deployment.api")


@pytest.mark.contract("B527", "B543")
@pytest.mark.parametrize("flags", [(), longer(("--all-namespaces",))], ids=["here", "everywhere"])
def test_a_record_that_needs_a_person_keeps_no_other_from_its_end(
    scene: Scene, program: PlayedGate, flags: tuple[str, ...]
) -> None:
    """It is warned of at once, the other goes back, and the worst end counts: 5, not 4."""
    leave_two_of_which_one_is_broken(scene, program)
    result = program("recover", *flags)
    assert result.exit_code == 5, str(result)
    assert "warning     the record of deployment/api cannot be read" in result.stderr
    assert "rolled-back" in result.stderr
    assert_runs(scene.objects, "shop/web:1", revision=3)
    assert images(scene.objects.get("deployments", "api")) == ["shop/api:2"]


@pytest.mark.contract("B246")
@pytest.mark.parametrize("command", ["recover", "apply"])
def test_a_record_writes_into_no_protected_namespace(
    scene: Scene, program: PlayedGate, command: str
) -> None:
    """Its objects are looked at, not the namespace of its lock alone."""
    prod(scene)

    def there(value: str) -> list[JSON]:
        return [placed_in("prod", one) for one in (settings(value), web(name="api"))]

    assert program("apply", "-f", scene.manifest(*there("one"), web())).exit_code == 0
    kill_apply(
        scene, program, *there("two"), web(2, behaviour=SLOW), line=r"deployment/web in \S+ changed"
    )
    words = ("web",) if command == "recover" else ("-f", scene.manifest(web(3)))
    result = program(command, *words, "--protected-namespace", "prod")
    assert_refused(result, "Protected", "namespace prod is protected")
    assert settings_in_prod(scene) == {"mode": "two"}
    assert program("recover", "web").exit_code == 4
    assert settings_in_prod(scene) == {"mode": "one"}


def forged(scene: Scene, namespace: str = "prod") -> JSON:
    """Put one more object into the record: a ConfigMap elsewhere that is to be returned."""
    record: JSON = unpack(lease(scene)["metadata"]["annotations"][RECORD], dict)
    ours = next(one for one in record["objects"] if one["ref"][1] == "ConfigMap")
    text = json.dumps(ours).replace('"shop"', f'"{namespace}"').replace('"one"', '"evil"')
    theirs = json.loads(text) | {"uid": "", "tried": None, "sent": {"kind": "ConfigMap"}}
    record["objects"].append(theirs | {"forced": True})
    return {RECORD: pack(record)}


@pytest.mark.contract("B754", "B1367")
@pytest.mark.parametrize("names_a_lock", [False, True], ids=["alone", "with-a-lock-there"])
def test_a_record_writes_to_no_namespace_without_a_lock(
    scene: Scene, program: PlayedGate, names_a_lock: bool
) -> None:
    """Whoever may write Leases in one writes nothing elsewhere, however often it is recovered."""
    prod(scene)
    first = placed_in("prod", settings("theirs")), placed_in("prod", web(name="api"))
    assert program("apply", "-f", scene.manifest(*first)).exit_code == 0
    scene.serve(web(), settings("one"))
    kill_apply(scene, program, settings("two"), web(2, behaviour=SLOW))
    annotations = forged(scene)
    if names_a_lock:
        said = json.loads(lease(scene)["metadata"]["annotations"]["rollout-gate/holder"])
        said["locks"] += [["prod", "rollout-gate.deployment.api"]]
        annotations["rollout-gate/holder"] = json.dumps(said)
    annotate(scene, annotations)
    for _ in range(2):
        result = program("recover", "web")
        assert result.exit_code == 5, str(result)
        assert "configmap/settings in prod" in result.stderr
        assert "no Lease says that its attempt held a lock" in result.stderr
        assert "if its Leases there were deleted, apply what should run" in result.stderr
        assert settings_in_prod(scene) == {"mode": "theirs"}
    after = program("apply", "-f", scene.manifest(web(3)))
    assert after.exit_code == 0, str(after)
    assert settings_in_prod(scene) == {"mode": "theirs"}


@pytest.mark.contract("B754")
def test_deployments_of_two_namespaces_are_recovered_together(
    scene: Scene, program: PlayedGate
) -> None:
    """Each of its Leases names the other."""
    die_over_two_namespaces(scene, program)
    assert settings_in_prod(scene) == {"mode": "two"}
    result = program("recover", "web")
    assert result.exit_code == 4, str(result)
    assert settings_in_prod(scene) == {"mode": "one"}
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B246")
@pytest.mark.parametrize("how", ["undo", "restart"])
def test_nothing_is_written_into_a_protected_namespace(
    scene: Scene, program: PlayedGate, how: str
) -> None:
    """A verified set has something there."""
    prod(scene)
    flag = ("--protected-namespace", "prod")

    def both(version: int, mode: str, **more: str) -> list[JSON]:
        there = [settings(mode), web(1, name="api")]
        return [*(placed_in("prod", one) for one in there), web(version, **more)]

    assert program("apply", "-f", scene.manifest(*both(1, "one"))).exit_code == 0
    bodies = both(2, "two", behaviour="ready=0" if how == "undo" else CRASH)
    second = program("apply", "-f", scene.manifest(*bodies), "--on-failure", "keep")
    assert second.exit_code == (0 if how == "undo" else 6), str(second)
    result = program(how, "web", *flag)
    assert_refused(result, "Protected", "namespace prod is protected")
    assert settings_in_prod(scene) == {"mode": "two"}
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


HAS_RECORD = When(
    f"'{RECORD}' in object.metadata.?annotations.orValue({{}})",
    lambda lease, _: RECORD in (lease["metadata"].get("annotations") or {}),
)


@pytest.mark.contract("B534")
@pytest.mark.parametrize("flags", [(), ("--require-lock",)], ids=["plain", "require-lock"])
def test_without_its_record_nothing_is_written(
    scene: Scene, program: PlayedGate, policies: Policies, flags: tuple[str, ...]
) -> None:
    """A policy denies the annotation: refused before the first write, and the lock is free."""
    scene.serve(web(), settings("one"))
    path = scene.manifest(web(2), settings("two"))
    with policies.denying("leases.coordination.k8s.io", "no large annotations", HAS_RECORD):
        result = program("apply", "-f", path, *flags)
    assert result.exit_code == 3, str(result)
    assert "no large annotations" in result.stderr
    assert "--no-lock" in result.stderr
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "one"}
    assert held_locks(scene) == []
