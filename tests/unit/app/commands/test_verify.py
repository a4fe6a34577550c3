"""`verify`: the judge beside whoever else rolled out; it writes nothing, ever."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml

from tests.unit.app.bodies import marked, web
from tests.unit.app.commands.test_apply_plan import assert_ended
from tests.unit.app.conftest import Gate
from tests.unit.app.server import ApiServer
from tests.unit.kube.scripted import Seen

HELM = {"annotations": {"meta.helm.sh/release-name": "shop"}}


@pytest.fixture(autouse=True)
def nothing_is_written(server: ApiServer) -> object:
    """Hold every test of this file to it."""
    yield
    assert server.writes() == []
    assert server.trials() == []


@pytest.mark.contract("B36")
def test_what_helm_rolled_out_is_judged(gate: Gate, server: ApiServer) -> None:
    """Whoever manages it: complete is 0."""
    server.put(marked(web(), **HELM), manager="helm")
    document = assert_ended(gate("verify", ("web",)), 0, "verified", "Complete")
    (deployment,) = document["deployments"]
    assert (deployment["running"], deployment["changed"]) == ("new", False)


@pytest.mark.contract("B654")
def test_what_is_there_is_said_before_anything_changes(gate: Gate, server: ApiServer) -> None:
    """Revision, ReplicaSet, images and pods, as `apply` says them; once, where nothing changes."""
    server.put(web())
    lines = gate("verify", ("web",)).err.splitlines()
    told = [line.split(maxsplit=1)[1].split(maxsplit=1) for line in lines]
    (following,) = [said for event, said in told if event == "replicaset"]
    assert following.startswith("deployment/web: following replicaset/web-")
    assert following.endswith(" (shop/web:1), revision 1")
    assert [said for event, said in told if event == "progress"] == [
        "deployment/web: 2 of 2 new pods available"
    ]


@pytest.mark.contract("B655")
@pytest.mark.parametrize("lock", [True, False])
def test_the_role_for_it_reads_and_holds_its_lock(
    gate: Gate, server: ApiServer, lock: bool
) -> None:
    """`verify --rbac` prints it, and judges nothing; without `--lock` it only reads."""
    server.rules = []
    ended = gate("verify", ("web",), rbac=True, **({"lock": True} if lock else {}))
    assert ended.code == 0
    role, _ = yaml.safe_load_all(ended.out)
    assert role["metadata"]["name"] == "rollout-gate-verify"
    verbs = {kind: set(rule["verbs"]) for rule in role["rules"] for kind in rule["resources"]}
    leases = verbs.pop("leases", set())
    assert leases == ({"get", "create", "patch"} if lock else set())
    assert set(verbs) == {"deployments", "replicasets", "pods", "pods/log", "events"}
    assert set().union(*verbs.values()) == {"get", "list", "watch"}


def when_it_is_confirmed(server: ApiServer, change: Callable[[], object]) -> None:
    """Let something happen when the Deployment is read for the second time."""
    reads: list[Seen] = []

    def happen(seen: Seen) -> None:
        if seen.method == "GET" and seen.path.endswith("/deployments/web"):
            reads.append(seen)
            if len(reads) == 2:
                change()

    server.on_request = happen


@pytest.mark.contract("B36", "B53")
def test_a_failed_rollout_is_not_rolled_back(gate: Gate, server: ApiServer) -> None:
    """Pods that crash under the judge's eyes are 6, and stay."""
    server.put(web())

    def crash() -> None:
        server.fate_of = lambda _: "crash"
        server.change("Deployment", "web", {"metadata": {"labels": {"x": "y"}}})

    when_it_is_confirmed(server, crash)
    document = assert_ended(gate("verify", ("web",)), 6, "failed", "CrashLoop")
    assert document["rollback"] is None


@pytest.mark.contract("B27", "B36")
def test_somebody_elses_next_version_supersedes(gate: Gate, server: ApiServer) -> None:
    """What was to be verified is not there any more."""
    server.put(web())
    when_it_is_confirmed(server, lambda: server.put(web("9")))
    assert_ended(gate("verify", ("web",)), 8, "superseded", "Superseded")


@pytest.mark.contract("B198")
def test_every_deployment_with_the_labels_is_judged(gate: Gate, server: ApiServer) -> None:
    """-l takes what it selects, and no other; names may come beside it."""
    for name, team in (("web", "a"), ("api", "a"), ("other", "b"), ("named", "b")):
        server.put(marked(web(name=name), labels={"team": team}))
    document = assert_ended(
        gate("verify", ("named",), selector="team=a"), 0, "verified", "Complete"
    )
    assert [one["name"] for one in document["deployments"]] == ["api", "named", "web"]


@pytest.mark.contract("B208")
@pytest.mark.parametrize("selector", ["app=", "app==", "team in a", "=web", "-app=web", "a b"])
def test_labels_that_nothing_can_have_are_refused_before_a_request(
    gate: Gate, server: ApiServer, selector: str
) -> None:
    """The server's own grammar (labels.Parse) is known here; an empty value is in it."""
    server.put(web())
    ended = gate("verify", (), selector=selector)
    if selector in ("app=", "app=="):
        assert_ended(ended, 3, "refused", "NotFound")
        return
    assert_ended(ended, 2, "usage", "Usage")
    assert "-l: no label selector: " in ended.err
    assert not server.seen


@pytest.mark.contract("B198")
def test_labels_that_select_nothing_are_refused(gate: Gate, server: ApiServer) -> None:
    """Nothing to verify is no success."""
    server.put(web())
    ended = gate("verify", (), selector="team=nobody")
    assert_ended(ended, 3, "refused", "NotFound")
    assert "no Deployment in namespace shop has the labels team=nobody" in ended.err


@pytest.mark.contract("B194")
def test_a_name_that_is_not_there_is_refused(gate: Gate, server: ApiServer) -> None:
    """One of several suffices."""
    server.put(web())
    ended = gate("verify", ("web", "nobody"))
    assert_ended(ended, 3, "refused", "NotFound")
    assert "deployment/nobody" in ended.err


@pytest.mark.contract("B198")
def test_the_expected_image_has_to_run(gate: Gate, server: ApiServer) -> None:
    """A release that never reached the cluster is a failure, however healthy the old one is."""
    server.put(web("1"))
    server.put(web("7", name="api"))
    both = ["shop/web:1", "shop/web:7"]
    assert gate("verify", ("web", "api"), expect_image=both).code == 0
    ended = gate("verify", ("web",), expect_image=both)
    assert_ended(ended, 6, "failed", "Superseded")
    assert "deployment/web runs shop/web:1, not shop/web:7" in ended.err


@pytest.mark.contract("B2", "B36")
def test_looking_is_all_the_right_it_needs(gate: Gate, server: ApiServer) -> None:
    """Rights to write are not asked for; the missing ones come as a Role."""
    looks = {"apiGroups": ["", "apps"], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    server.rules = [looks]
    server.put(web())
    assert gate("verify", ("web",)).code == 0
    server.rules = [{**looks, "verbs": ["get"]}]
    ended = gate("verify", ("web",))
    assert_ended(ended, 3, "refused", "Forbidden")
    assert "watch pods" in ended.err
    assert "patch" not in ended.err
