"""`--keep-verified-secrets`: sets are whole with their Secrets and environment values."""

from __future__ import annotations

import base64
import gzip
import json

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.invariants import CANARY
from tests.bed.scene import OURS, Scene, secret, settings, web
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import LEASE, kill_at, recover
from tests.scenarios.proxy import Proxy, kills, nth, writes
from tests.scenarios.rights import LEASE_RULES, READING, MakeGate, rules
from tests.scenarios.test_good import MOST_REQUESTS
from tests.scenarios.test_reloaders import WEB
from tests.scenarios.versions import (
    CRASH,
    DOCUMENT,
    KEEP,
    apply_and_keep,
    history,
    mode,
    one_line,
    undo,
)

pytestmark = pytest.mark.sandbox_only(
    "what a lock remembers is the gate's own, whatever cluster keeps it"
)

KEEPING = ("--keep-verified-secrets",)
BESIDE = "rollout-gate.verified.web"


def password(scene: Scene) -> str:
    """Return what the Secret says."""
    value = scene.objects.get("secrets", "keys")["data"]["key"]
    return base64.b64decode(value).decode()


def keep_a_bad_secret(scene: Scene, *flags: str) -> None:
    """Verify v1 with `flags`, then let a crashing v9 with a Secret of its own stand."""
    first = (secret("one-long-value"), settings("one"), web())
    assert_verified(scene.apply(*first, flags=flags))
    apply_and_keep(scene, secret("nine-long-value"), settings("nine"), web(9, behaviour=CRASH))


@pytest.mark.contract("B708")
def test_a_kept_secret_returns_with_its_set(scene: Scene) -> None:
    """v1 was kept whole, the later runs do without the option: the Secret is that of v1."""
    keep_a_bad_secret(scene, *KEEPING)
    bad = (secret("two-long-value"), settings("two"), web(2, behaviour=CRASH))
    result = scene.apply(*bad)
    assert_rolled_back(result, "CrashLoop")
    assert (password(scene), mode(scene)) == ("one-long-value", "one")
    assert_runs(scene.objects, "shop/web:1")
    assert "long-value" not in json.dumps(result.document) + result.stderr
    assert "with it returns, as it was verified: secret/keys, configmap/settings" in result.stderr


@pytest.mark.contract("B708")
def test_undo_restores_a_kept_secret(scene: Scene) -> None:
    """The set is whole, though the Secret has changed since."""
    for number in (1, 2):
        bodies = (secret(f"{number}-long-value"), web(number))
        assert_verified(scene.apply(*bodies, flags=KEEPING))
    result = undo(scene)
    assert_verified(result)
    assert password(scene) == "1-long-value"
    assert_runs(scene.objects, "shop/web:1")
    assert "long-value" not in json.dumps(result.document) + result.stderr


@pytest.mark.contract("B1941")
@pytest.mark.parametrize("dies", [False, True])
def test_what_went_with_a_deleted_lock_is_named(
    scene: Scene, program: PlayedGate, dies: bool
) -> None:
    """The run knows the history, and has no copy of what was kept beside it."""
    assert_verified(scene.apply(secret("1-long-value"), web(), flags=KEEPING))
    path = scene.manifest(secret("2-long-value"), web(2, behaviour="ready=40"))
    with program.start("apply", "-f", path, *KEEPING, *DOCUMENT) as running:
        running.wait_for_line(UNDER_WAY)
        scene.objects.delete("leases", LEASE)
        running.wait_for_line(
            "this run created it again with its record and its history; what was kept of"
            " deployment/web, secret/keys went with it: no later undo or rollback restores that$"
        )
        if dies:
            running.kill()
            assert recover(scene).exit_code == 4
        else:
            assert_verified(running.wait())
            assert_refused(undo(scene), "SetIncomplete", "secret/keys")
    assert password(scene) == f"{1 if dies else 2}-long-value"


@pytest.mark.contract("B708")
@pytest.mark.parametrize("verb", ["apply", "undo"])
def test_environment_values_return_without_their_replica_set(scene: Scene, verb: str) -> None:
    """`revisionHistoryLimit: 0` leaves no ReplicaSet that has them."""

    def version(number: int, **over: object) -> JSON:
        body = web(number, **over)
        body["spec"]["revisionHistoryLimit"] = 0
        return body

    assert_verified(scene.apply(settings("one"), version(1), flags=KEEPING))
    if verb == "undo":
        assert_verified(scene.apply(settings("two"), version(2)))
        scene.objects.wait("replicasets", lambda found: len(found) == 1)
        assert_verified(undo(scene))
    else:
        bad = version(9, behaviour=CRASH)
        assert_ended(scene.apply(settings("nine"), bad, flags=KEEP), 6, "failed", "CrashLoop")
        scene.objects.delete("replicasets", of_version(scene, 1))
        result = scene.apply(settings("two"), version(2, behaviour=CRASH))
        assert_rolled_back(result, "CrashLoop")
    assert mode(scene) == "one"
    live = assert_runs(scene.objects, "shop/web:1")
    env = live["spec"]["template"]["spec"]["containers"][0]["env"]
    assert env == [{"name": "PASSWORD", "value": CANARY}]


def of_version(scene: Scene, number: int) -> str:
    """Return the name of the ReplicaSet of a version."""
    found = scene.objects.list_all("replicasets")
    names = [rs["metadata"]["name"] for rs in found if images(rs) == [f"shop/web:{number}"]]
    assert len(names) == 1, names
    return str(names[0])


@pytest.mark.contract("B709")
def test_what_is_kept_is_in_that_secret_alone(scene: Scene) -> None:
    """It belongs to the Lease, has its own type, and goes with the history."""
    for number, count in enumerate((2, 4, 4, 2, 0), start=1):
        bodies = (secret(f"{number}-long-value"), web(number))
        assert_verified(scene.apply(*bodies, flags=KEEPING if number < 3 else ()))
        kept = scene.objects.get("secrets", BESIDE)
        lease = scene.objects.get("leases", "rollout-gate.deployment.web")
        assert kept["type"] == "rollout-gate/verified"
        [owner] = kept["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"]) == ("Lease", lease["metadata"]["uid"])
        assert set(kept.get("data") or {}) == set(history(scene)["kept"])
        assert len(kept.get("data") or {}) == count
        text = json.dumps(history(scene))
        assert "long-value" not in text
        assert CANARY not in text


@pytest.mark.contract("B709", "B280")
def test_what_keeping_costs(scene: Scene, audit: Trail) -> None:
    """One request that asks for the rights, and one that writes; none without the option."""
    counts = []
    for number, flags in enumerate(((), KEEPING, KEEPING, ()), start=1):
        before = len(audit.requests())
        assert_verified(scene.apply(web(number), flags=flags))
        counts.append(len(audit.requests()) - before)
    kept_first, kept_again, plain = counts[1:]
    assert kept_first == kept_again == plain + 2 <= MOST_REQUESTS + 2


@pytest.mark.contract("B709")
def test_without_the_rights_it_is_said_what_cannot_be_returned(
    scene: Scene, gate_with_rules: MakeGate
) -> None:
    """Before the first write and at the end; nothing fails of it."""
    scene.serve(web())
    named = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "patch"]}
    gate = gate_with_rules([*rules(*READING, "patch"), LEASE_RULES, {**named, "resourceNames": []}])
    path = scene.manifest(web(2))
    with gate.start("apply", "-f", path, *KEEPING, *DOCUMENT) as running:
        result = running.wait()
    assert_verified(result)
    early = "what is verified of deployment/web cannot be kept for a later return"
    assert warned(result, early, "not allowed: create secrets")
    assert warned(result, "what was verified of deployment/web is not kept", "no later return")
    assert scene.objects.list_all("secrets") == []


@pytest.mark.contract("B708", "B542")
def test_a_killed_rollback_to_a_kept_set_is_finished(scene: Scene, program: PlayedGate) -> None:
    """`recover` finds the Secret that the record itself does not hold."""
    keep_a_bad_secret(scene, *KEEPING)
    bad = scene.manifest(secret("two-long-value"), settings("two"), web(2, behaviour=CRASH))
    kill_at(program, UNDER_WAY, "apply", "-f", bad)
    record = scene.objects.get("leases", LEASE)["metadata"]["annotations"]["rollout-gate/attempt"]
    unpacked = gzip.decompress(base64.b64decode(record)).decode()
    assert base64.b64encode(b"one-long-value").decode() not in unpacked
    result = scene.gate("recover", *DOCUMENT)
    assert result.exit_code == 4
    assert (password(scene), mode(scene)) == ("one-long-value", "one")
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1962")
def test_an_unchanged_secret_is_none_that_a_dead_gate_created(proxy: Proxy) -> None:
    """The record does not hold it, and nothing else tells that it was there before."""
    scene = proxy.scene
    keep_a_bad_secret(scene, *KEEPING)
    made = {**settings("x"), "metadata": {**settings("x")["metadata"], "name": "extra"}}
    path = scene.manifest(secret("nine-long-value"), made, web(2))
    with scene.gate.start("apply", "-f", path, "--prune-created", *KEEPING, *DOCUMENT) as running:
        proxy.on(nth(1, writes(WEB)), kills(running, after=False))
        running.wait()
    proxy.rest()
    result = recover(scene)
    assert "deleted configmap/extra" in one_line(result.stderr), str(result)
    assert "secret/keys" not in result.stderr
    assert password(scene) == "nine-long-value"


@pytest.mark.contract("B1962")
@pytest.mark.parametrize("verb", ["restart", "apply"])
def test_what_another_gate_wrote_into_an_unchanged_secret_stays(proxy: Proxy, verb: str) -> None:
    """It is as little the recovery's as a ConfigMap of the set is, whoever the fields belong to."""
    scene = proxy.scene
    keep_a_bad_secret(scene, *KEEPING)
    path = scene.manifest(secret("nine-long-value"), web(2, behaviour=CRASH))
    words = ("restart", "web") if verb == "restart" else ("apply", "-f", path, *KEEPING)
    with scene.gate.start(*words, *DOCUMENT) as running:
        proxy.on(nth(1, writes(WEB)), kills(running, after=True))
        running.wait()
    proxy.rest()
    scene.apply_as(OURS, secret("their-long-value"))
    recover(scene)
    assert password(scene) == "their-long-value"
