"""The lint: each warning, when it is due, and how it is silenced."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gate.errors import UsageError
from gate.manifests.kinds.rules import LintCode
from gate.manifests.lint import Lint, lint, lint_lines, read_silenced
from gate.manifests.manifest import Manifest

Loaded = Callable[[str], Manifest]

CAREFUL = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  minReadySeconds: 5
  progressDeadlineSeconds: 120
  template:
    spec:
      initContainers: [{name: migrate, image: "shop/migrate:3"}]
      containers:
      - {name: app, image: "shop/web:1.2", readinessProbe: {httpGet: {port: 80}}}
"""

CARELESS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 1
  template:
    spec:
      containers:
      - {name: app, image: shop/web}
      - {name: proxy, image: "proxy:latest", readinessProbe: {exec: {}}}
"""

AUTOSCALER = """
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: %s}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: %s, name: web}}
"""

SCALED_OBJECT = """
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: s, namespace: shop}
spec: {scaleTargetRef: {name: web}}
"""


def codes(found: tuple[Lint, ...]) -> set[str]:
    """Return the names of the warnings."""
    return {str(warning.code) for warning in found}


@pytest.mark.contract("B229", "B2018")
def test_a_careless_deployment_has_them_all(loaded: Loaded) -> None:
    """But the one for Jobs. Each has a line; pinned and probed containers are not named."""
    found = lint(loaded(CARELESS), timeout_seconds=600)
    assert [warning.message for warning in found] == [
        "proxy:latest, shop/web can become another image: name a version or a digest",
        "no readiness probe on app: a pod counts as ready once it runs",
        "minReadySeconds is 0: a pod that crashes a moment later counts as available",
        "one replica: its node takes the service down",
        (
            "--timeout (10m) may end a stuck rollout as Timeout before progressDeadlineSeconds"
            " (10m) finds it stuck (ProgressDeadlineExceeded): give --timeout more than 10m5s"
        ),
    ]
    assert {warning.code for warning in found} == {*LintCode} - {LintCode.LONE_JOB}
    assert [*lint_lines(found, str)][3] == (
        "<stdin>:2: deployment/web: one replica: its node takes the service down [one-replica]"
    )


@pytest.mark.contract("B1137")
def test_what_holds_for_several_is_one_line_with_each_place(loaded: Loaded) -> None:
    """In its own words where they are the same, else in words for all of them."""
    second = CARELESS.replace("name: web", "name: api").replace("name: app", "name: api")
    lines = [*lint_lines(lint(loaded(f"{CARELESS}---{second}")), str)]
    named = "deployment/web (<stdin>:2), deployment/api (<stdin>:13)"
    assert lines == [
        (
            f"{named}: proxy:latest, shop/web can become another image: name a version or a digest"
            " [mutable-tag]"
        ),
        (
            f"{named}: containers without a readiness probe: a pod counts as ready once it runs"
            " [no-readiness-probe]"
        ),
        (
            f"{named}: minReadySeconds is 0: a pod that crashes a moment later counts as available"
            " [no-min-ready-seconds]"
        ),
        f"{named}: one replica: its node takes the service down [one-replica]",
    ]


@pytest.mark.contract("B1137")
def test_of_many_workloads_five_are_named(loaded: Loaded) -> None:
    """The line says how many more there are."""
    many = "---".join(CARELESS.replace("name: web", f"name: w{index}") for index in range(7))
    first, *_ = lint_lines(lint(loaded(many)), str)
    assert "deployment/w4" in first
    assert "deployment/w5" not in first
    assert " and 2 more: " in first


@pytest.mark.contract("B229")
def test_warnings_are_silenced_one_by_one_or_all(loaded: Loaded) -> None:
    """By the names that the warnings carry."""
    manifest = loaded(CARELESS)
    some = lint(manifest, silent=read_silenced(["mutable-tag", "one-replica"]))
    assert codes(some) == {"no-readiness-probe", "no-min-ready-seconds"}
    assert lint(manifest, timeout_seconds=1, silent=read_silenced(["all"])) == ()
    assert read_silenced([]) == frozenset()


def test_an_unknown_name_is_a_usage_error() -> None:
    """A slip would silence nothing, unseen."""
    with pytest.raises(UsageError, match=r"^no such warning: latest, mutable$") as refused:
        read_silenced(["mutable", "latest", "mutable-tag"])
    assert "mutable-tag" in refused.value.hint


@pytest.mark.contract("B108", "B229")
@pytest.mark.parametrize(
    ("deadline", "timeout_seconds", "warned"),
    [
        ("120", 126.0, False),
        ("120", 125.0, True),
        ("120", 60.0, True),
        ("120", None, False),
        ("~", 605.5, False),
        ("~", 605.0, True),
        ("2147483647", 60.0, False),
    ],
)
def test_the_timeout_has_to_outlast_the_deadline(
    loaded: Loaded, deadline: str, timeout_seconds: float | None, warned: bool
) -> None:
    """By more than 5 s; without a deadline, or without a timeout given, it always does."""
    text = CAREFUL.replace("progressDeadlineSeconds: 120", f"progressDeadlineSeconds: {deadline}")
    found = lint(loaded(text), timeout_seconds=timeout_seconds)
    assert codes(found) == ({"timeout-before-deadline"} if warned else set())


LONE_JOB = """
apiVersion: batch/v1
kind: Job
metadata: {%s}
spec: {template: {spec: {containers: [{name: m, image: "shop/migrate:1"}]}}}
"""


@pytest.mark.contract("B1593", "B1623")
def test_a_job_is_kept_apart_by_what_it_is_applied_with_or_by_how_it_is_named(
    loaded: Loaded,
) -> None:
    """Alone and with a fixed name it has a lock that a Job of the next version does not take."""
    named = LONE_JOB % "name: migrate-v1"
    (found,) = lint(loaded(named))
    assert found.message.startswith(
        "a Job of another name, as of the next version, may run beside it"
    )
    assert codes(lint(loaded(f"{named}---{LONE_JOB % 'name: seed-v1'}"))) == {"lone-job"}
    assert not lint(loaded(f"{named}---{CAREFUL}"))
    assert not lint(loaded(LONE_JOB % "generateName: migrate-"))
    assert codes(lint(loaded(LONE_JOB % "name: v1, generateName: migrate-"))) == {"lone-job"}


@pytest.mark.parametrize(
    ("replicas", "autoscaler", "warned"),
    [
        ("replicas: 1", "", True),
        ("replicas: 0", "", False),
        ("paused: false", "", True),
        ("replicas: 1", AUTOSCALER % ("shop", "Deployment"), False),
        ("replicas: 1", AUTOSCALER % ("shop", "StatefulSet"), True),
        ("replicas: 1", AUTOSCALER % ("other", "Deployment"), True),
        (
            "paused: false",
            SCALED_OBJECT,
            False,
        ),
    ],
)
def test_one_replica_is_no_matter_where_an_autoscaler_decides(
    loaded: Loaded, replicas: str, autoscaler: str, warned: bool
) -> None:
    """It has to be in the manifest and target this Deployment."""
    found = lint(loaded(CAREFUL.replace("replicas: 2", replicas) + autoscaler))
    assert codes(found) == ({"one-replica"} if warned else set())


def test_what_a_manifest_says_cannot_break_the_line(loaded: Loaded) -> None:
    """Images and names are text from outside."""
    text = CAREFUL.replace("shop/web:1.2", "x\\n::error::y").replace("name: app", 'name: "a\\e[0m"')
    found = lint(loaded(text.replace("readinessProbe", "livenessProbe")))
    assert codes(found) == {"mutable-tag", "no-readiness-probe"}
    assert all(line.isprintable() for line in lint_lines(found, lambda _: "it"))
