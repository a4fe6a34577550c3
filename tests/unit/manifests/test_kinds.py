"""The table of kinds, and which of them a manifest may hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gate.errors import UsageError
from gate.manifests.allowed import require_allowed
from gate.manifests.kinds.kind import Rank
from gate.manifests.kinds.registry import KINDS
from gate.manifests.manifest import Manifest

Loaded = Callable[[str], Manifest]

USUAL = {
    *("ConfigMap", "CronJob", "DaemonSet", "Deployment", "HorizontalPodAutoscaler", "Ingress"),
    *("Job", "NetworkPolicy", "PersistentVolumeClaim", "Pod", "PodDisruptionBudget", "ReplicaSet"),
    *("ReplicationController", "ResourceClaim", "ResourceClaimTemplate", "Secret", "Service"),
    *("ServiceAccount", "StatefulSet"),
}

WIDENING = """
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: b}}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: a}}
"""


def test_the_usual_kinds_are_those_that_a_developer_may_write() -> None:
    """What the ClusterRole `edit` may create in Kubernetes v1.36, without Lease and Event."""
    assert {kind.name for kind in KINDS if kind.usual} == USUAL
    assert all(kind.namespaced for kind in KINDS if kind.usual)


def test_rows_are_unique_and_ranked() -> None:
    """A kind has one row and one plural within its group, and cluster scope is never a workload."""
    assert len({(kind.group, kind.name) for kind in KINDS}) == len(KINDS)
    assert len({(kind.group, kind.plural) for kind in KINDS}) == len(KINDS)
    assert all(kind.plural == kind.plural.lower() for kind in KINDS)
    assert {kind.name for kind in KINDS if kind.pod_spec} == {
        kind.name for kind in KINDS if kind.rank in (Rank.WORKLOADS, Rank.JOBS)
    }


@pytest.mark.contract("B15")
def test_only_workloads_are_judged(loaded: Loaded) -> None:
    """Other kinds are applied and listed as not judged, one of the same name too."""
    manifest = loaded("""
{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}
---
{apiVersion: v1, kind: ReplicationController, metadata: {name: a}}
---
{apiVersion: example.com/v1, kind: Deployment, metadata: {name: a}}
""")
    assert [item.api_version for item in manifest.objects if item.judged] == ["apps/v1"]
    assert len(manifest.workloads) == 1


@pytest.mark.contract("B221")
def test_all_unusual_kinds_are_named_at_once_with_the_flags_for_them(loaded: Loaded) -> None:
    """Each kind once, with its first place, and the line that admits them all."""
    with pytest.raises(UsageError) as refused:
        require_allowed(loaded(WIDENING))
    assert refused.value.message == (
        "<stdin>:10: not among the kinds that are usually deployed: Namespace,"
        " Role (<stdin>:4 and 1 more), Widget.example.com (<stdin>:8)"
    )
    assert refused.value.hint == (
        "to apply them all the same: --allow-kind Namespace --allow-kind Role"
        " --allow-kind Widget.example.com"
    )


@pytest.mark.contract("B221")
@pytest.mark.parametrize(
    "role", ["Role", "role", "Role.rbac.authorization.k8s.io", "ROLE.RBAC.authorization.k8s.io"]
)
def test_the_flags_admit_what_they_name(loaded: Loaded, role: str) -> None:
    """With or without the group, in any case of letters."""
    require_allowed(loaded(WIDENING), [role, "Widget.example.com", "Namespace"])


@pytest.mark.contract("B221")
@pytest.mark.parametrize(
    "name", ["Widget", "Widget.example.org", "Role.example.com", "example.com"]
)
def test_a_flag_admits_nothing_else(loaded: Loaded, name: str) -> None:
    """A custom kind needs its group: a name alone could be anybody's."""
    with pytest.raises(UsageError) as refused:
        require_allowed(loaded(WIDENING), [name, "Namespace", "Role"])
    assert refused.value.hint == "to apply it all the same: --allow-kind Widget.example.com"


@pytest.mark.contract("B221", "B1655")
@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("apps/v1beta1 Deployment", "write apiVersion: apps/v1"),
        ("v1 Deployment", "write apiVersion: apps/v1"),
        ("apps/v1 Ingress", "write apiVersion: networking.k8s.io/v1"),
        ("extensions/v1beta1 Ingress", "write apiVersion: networking.k8s.io/v1"),
        ("policy/v1beta1 PodDisruptionBudget", "write apiVersion: policy/v1"),
        ("example.com/v1 Secret", "to apply it all the same: --allow-kind Secret.example.com"),
        (
            "apps/v1 Deploymant",
            "did you mean Deployment?; to apply it all the same: --allow-kind Deploymant.apps",
        ),
        (
            "serving.knative.dev/v1 Service",
            "to apply it all the same: --allow-kind Service.serving.knative.dev",
        ),
    ],
)
def test_a_slip_is_corrected_before_a_flag_is_named(
    loaded: Loaded, written: str, hint: str
) -> None:
    """An API version of long ago or of other kinds, and a misspelt kind; not a custom kind's."""
    version, kind = written.split()
    with pytest.raises(UsageError) as refused:
        require_allowed(loaded(f"{{apiVersion: {version}, kind: {kind}, metadata: {{name: a}}}}"))
    assert refused.value.hint == hint


@pytest.mark.parametrize("name", ["", "Role Widget", "a/b", ".example.com", "Role.", "--x", "\x1b"])
def test_nonsense_for_a_kind_is_a_usage_error(loaded: Loaded, name: str) -> None:
    """Also where nothing in the manifest needs it."""
    manifest = loaded("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
    with pytest.raises(UsageError, match=r"^--allow-kind .*: not KIND or KIND\.GROUP$"):
        require_allowed(manifest, [name])
