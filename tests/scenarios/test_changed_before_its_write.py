"""What others change in configuration after the preflight has read it and before it is written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.bed.expectations import assert_ended, assert_rolled_back, assert_runs, assert_verified
from tests.bed.scene import MERGE_PATCH, OURS, Scene, secret, settings, web
from tests.cluster import manifests
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, first, kills, loses, nth, writes
from tests.scenarios.versions import CRASH, mode, one_line, report, undo

pytestmark = pytest.mark.sandbox_only("somebody acts between two requests of the gate")

SETTINGS = "/configmaps/settings"
THEIRS = {"theirs": "1"}


def put(scene: Scene, data: JSON, by: str = "somebody", *, resource: str = "configmaps") -> None:
    """Merge keys into the configuration under somebody's name; None removes one."""
    path = scene.objects.path(resource, "settings" if resource == "configmaps" else "keys")
    scene.client.json("PATCH", f"{path}?fieldManager={by}", {"data": data}, MERGE_PATCH)


def read_data(scene: Scene) -> JSON:
    """Return the keys of the ConfigMap."""
    data: JSON = scene.objects.get("configmaps", "settings")["data"]
    return data


def meanwhile(proxy: Proxy, act: Callable[[], object], path: str = SETTINGS) -> None:
    """Let somebody act right before the first write to a path reaches the server."""
    proxy.on(nth(1, writes(path)), first(act))


def find_object(result: Result) -> JSON:
    """Return what the document says of the ConfigMap."""
    found: JSON = next(one for one in result.document["objects"] if one["kind"] == "ConfigMap")
    return found


def begin(scene: Scene, by: str) -> None:
    """Let version 1 run, as the gate or as `kubectl apply` has applied it."""
    if by == "gate":
        assert_verified(scene.apply(settings("1"), web(1)))
    else:
        scene.kubectl("apply", "-f", str(scene.manifest(settings("1"), web(1))), check=True)
        scene.objects.wait_complete("web")


def assert_untouched(result: Result, scene: Scene, data: JSON) -> None:
    """Expect that the attempt ended before it wrote anything, and the configuration is theirs."""
    assert_ended(result, 3, "refused", "Conflict")
    assert read_data(scene) == data
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1855", "B126")
@pytest.mark.parametrize("behaviour", ["", CRASH], ids=["good", "bad"])
@pytest.mark.parametrize("by", ["gate", "kubectl"])
def test_a_key_of_somebodys_ends_no_release(proxy: Proxy, by: str, behaviour: str) -> None:
    """It stays on the way out and back, also where the gate takes over what others had applied."""
    scene = proxy.scene
    begin(scene, by)
    meanwhile(proxy, lambda: put(scene, THEIRS))
    result = scene.apply(settings("2"), web(2, behaviour=behaviour))
    assert len(proxy.met) == 1
    if behaviour:
        assert_rolled_back(result, "CrashLoop")
    else:
        assert_verified(result)
    value = "1" if behaviour else "2"
    assert read_data(scene) == {"mode": value, **THEIRS}
    assert_runs(scene.objects, f"shop/web:{value}")


@pytest.mark.contract("B1855")
@pytest.mark.parametrize("behaviour", ["", CRASH], ids=["good", "bad"])
@pytest.mark.parametrize("data", [{"theirs": "2"}, {"theirs": None}], ids=["changed", "removed"])
def test_a_key_of_others_is_between_them(proxy: Proxy, data: JSON, behaviour: str) -> None:
    """Whose it was and whose it is then is nothing to the manifest, which never had it."""
    scene = proxy.scene
    begin(scene, "gate")
    put(scene, {**THEIRS, "first": "1"}, "first")
    meanwhile(proxy, lambda: put(scene, data, "second"))
    result = scene.apply(settings("2"), web(2, behaviour=behaviour))
    assert result.exit_code == (4 if behaviour else 0), str(result)
    theirs = {"first": "1"} | {key: value for key, value in data.items() if value}
    assert read_data(scene) == {"mode": "1" if behaviour else "2"} | theirs


@pytest.mark.contract("B1855")
@pytest.mark.parametrize("by", ["gate", "kubectl"])
@pytest.mark.parametrize("data", [{"theirs": "2"}, {"theirs": None}], ids=["changed", "removed"])
def test_whoever_has_lost_all_of_theirs_ends_the_attempt(proxy: Proxy, data: JSON, by: str) -> None:
    """A way back would take what they had for what the gate took over, and set it again."""
    scene = proxy.scene
    begin(scene, by)
    put(scene, THEIRS, "first")
    meanwhile(proxy, lambda: put(scene, data, "second"))
    result = scene.apply(settings("2"), web(2, behaviour=CRASH))
    assert_untouched(result, scene, {"mode": "1"} | {k: v for k, v in data.items() if v})


@pytest.mark.contract("B1855")
@pytest.mark.parametrize("flags", [(), ("--force-conflicts",)], ids=["plain", "forced"])
@pytest.mark.parametrize(
    "data",
    [{"mode": "9"}, {"mode": "2"}, {"new": "9"}, {"old": "9"}, {"old": None}, {"mode": None}],
    ids=["set", "set-alike", "to-be-added", "to-be-removed", "removed-too", "removed"],
)
def test_what_the_manifest_sets_or_removes_is_not_overwritten(
    proxy: Proxy, data: JSON, flags: tuple[str, ...]
) -> None:
    """Nobody has decided about what somebody else wrote there since."""
    scene = proxy.scene
    before, after = {"mode": "1", "old": "1"}, {"mode": "2", "new": "2"}
    assert_verified(scene.apply(manifests.config_map("settings", before), web(1)))
    meanwhile(proxy, lambda: put(scene, {**THEIRS, **data}))
    result = scene.apply(manifests.config_map("settings", after), web(2), flags=flags)
    left = {key: value for key, value in {**before, **THEIRS, **data}.items() if value}
    assert_untouched(result, scene, left)


@pytest.mark.contract("B1855")
@pytest.mark.parametrize("data", [{"new": "9"}, {"old": "9"}], ids=["added", "changed"])
def test_what_another_run_of_the_gate_applied_is_not_removed(proxy: Proxy, data: JSON) -> None:
    """It owns that under the same name, so that an apply which leaves it out takes it away."""
    scene, before = proxy.scene, {"mode": "1", "old": "1"}
    assert_verified(scene.apply(manifests.config_map("settings", before), web(1)))
    meanwhile(proxy, lambda: scene.apply_as(OURS, manifests.config_map("settings", before | data)))
    assert_untouched(scene.apply(settings("2"), web(2)), scene, before | data)


@pytest.mark.contract("B1855")
def test_what_lost_all_its_owners_is_not_written(proxy: Proxy) -> None:
    """Nothing tells any more whose its fields are; force would overwrite them."""
    scene = proxy.scene
    begin(scene, "gate")

    def act() -> None:
        put(scene, THEIRS)
        scene.objects.patch("configmaps", "settings", {"metadata": {"managedFields": [{}]}})

    meanwhile(proxy, act)
    result = scene.apply(settings("2"), web(2), flags=["--force-conflicts"])
    assert_untouched(result, scene, {"mode": "1", **THEIRS})


@pytest.mark.contract("B1905")
@pytest.mark.parametrize("resource", ["secrets/keys", "configmaps/settings"])
@pytest.mark.parametrize("others", [(web,), ()], ids=["workload", "configuration-alone"])
def test_configuration_that_somebody_deletes_is_said_to_be_deleted(
    proxy: Proxy, resource: str, others: tuple[Callable[[int], JSON], ...]
) -> None:
    """The server speaks of uids and preconditions, and has nothing to correct."""
    scene, (kind, name) = proxy.scene, resource.split("/")
    begun, ended = ([secret(n), settings(n), *(one(int(n)) for one in others)] for n in "12")
    assert scene.apply(*begun).exit_code == 0
    meanwhile(proxy, lambda: scene.client.json("DELETE", scene.objects.path(kind, name)), name)
    result = scene.apply(*ended)
    is_first = name == "keys"
    assert result.exit_code == (3 if is_first else 4), str(result)
    gone = f"{kind.removesuffix('s')}/{name}"
    said = f"{gone}: it was deleted since it was read, and is not created again"
    assert result.document["message"] == said
    text = one_line(report(scene, result))
    assert f"next somebody deleted {gone}: run the same again if it is still wanted" in text
    assert ("broke off half-way at" in text) is not is_first
    assert "uid" not in f"{text}{result.stderr}"


@pytest.mark.contract("B1855")
def test_a_secret_goes_back_beside_a_key_of_somebodys(proxy: Proxy) -> None:
    """Its workload was taken over by somebody before its write."""
    scene = proxy.scene
    assert_verified(scene.apply(secret("1"), settings("1"), web(1)))
    before = scene.objects.get("secrets", "keys")["data"]
    meanwhile(proxy, lambda: put(scene, {"theirs": "MQ=="}, resource="secrets"), "/secrets/keys")
    proxy.on(nth(1, writes("/deployments/web")), first(lambda: scene.change(web(9))))
    result = scene.apply(secret("2"), settings("2"), web(2))
    assert_ended(result, 8, "superseded", "Superseded")
    assert scene.objects.get("secrets", "keys")["data"] == {**before, "theirs": "MQ=="}
    assert mode(scene) == "1"


@pytest.mark.contract("B1855")
def test_a_lost_answer_is_settled_beside_a_key_of_somebodys(proxy: Proxy) -> None:
    """The write was done, with their key beside it."""
    scene = proxy.scene
    begin(scene, "gate")
    proxy.on(nth(2, writes(SETTINGS)), loses)
    meanwhile(proxy, lambda: put(scene, THEIRS))
    assert_verified(scene.apply(settings("2"), web(2)))
    assert read_data(scene) == {"mode": "2", **THEIRS}


@pytest.mark.contract("B1855")
@pytest.mark.parametrize("number", [1, 2], ids=["not-written", "written"])
def test_a_recovery_leaves_it_too(proxy: Proxy, number: int) -> None:
    """Whether or not the gate that died had written beside it."""
    scene = proxy.scene
    begin(scene, "gate")
    with scene.applying(settings("2"), web(2, behaviour=CRASH)) as running:
        proxy.on(nth(number, writes(SETTINGS)), kills(running, after=True))
        meanwhile(proxy, lambda: put(scene, THEIRS))
        running.wait()
    proxy.rest()
    assert mode(scene) == str(number)
    result = recover(scene)
    assert result.exit_code == (0 if number == 1 else 4), str(result)
    assert read_data(scene) == {"mode": "1", **THEIRS}
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1855")
def test_an_undo_leaves_it_too(proxy: Proxy) -> None:
    """What it returns is what the gate had applied."""
    scene = proxy.scene
    for number in (1, 2):
        assert_verified(scene.apply(settings(str(number)), web(number)))
    meanwhile(proxy, lambda: put(scene, THEIRS))
    assert_verified(undo(scene))
    assert read_data(scene) == {"mode": "1", **THEIRS}


@pytest.mark.contract("B1855")
@pytest.mark.parametrize("data", [THEIRS, {"gone": None}], ids=["added", "removed"])
@pytest.mark.parametrize("by", ["gate", "kubectl"])
def test_a_change_of_theirs_is_none_of_the_gates(proxy: Proxy, by: str, data: JSON) -> None:
    """The manifest has the configuration as it was: nothing of it goes back."""
    scene = proxy.scene
    begin(scene, by)
    put(scene, {"first": "1", "gone": "1"}, "first")
    meanwhile(proxy, lambda: put(scene, data))
    result = scene.apply(settings("1"), web(2, behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    configuration = find_object(result)
    assert (configuration["action"], configuration["changes"]) == ("unchanged", [])
    assert read_data(scene).get("gone") == data.get("gone", "1")


@pytest.mark.contract("B1855")
def test_only_what_the_gate_changed_is_a_change_of_the_run(proxy: Proxy) -> None:
    """A key of others went, another one came."""
    scene = proxy.scene
    begin(scene, "gate")
    put(scene, {"first": "1", "gone": "1"}, "first")
    meanwhile(proxy, lambda: put(scene, {"gone": None, **THEIRS}))
    result = scene.apply(settings("2"), web(2))
    assert_verified(result)
    assert [one["path"] for one in find_object(result)["changes"]] == ["data.mode"]
