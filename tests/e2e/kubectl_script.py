"""What people do with kubectl, as a script: each step is a command line, run in order.

Every step is run against two clusters; what it prints is compared once everything that is a
cluster's own (names, times, addresses) is written alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.face import NAME_LETTERS
from tests.cluster import manifests
from tests.cluster.command import Program, Result
from tests.cluster.kubelet.api import JSON

NAMESPACE = "{namespace}"


@dataclass(frozen=True, slots=True)
class Step:
    """One command: `words` are split at spaces, `last` compares the last line alone.

    `unordered` is for rows whose order depends on generated names; `unheard` for warnings and
    errors that are not compared.
    """

    name: str
    words: str
    last: bool = False
    unordered: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """What a step comes to, comparable between clusters."""

    exit_code: int
    stdout: tuple[str, ...]
    stderr: tuple[str, ...]


FOLLOW = "rollout status deployment/web --timeout=60s"


def _of_workload(kind: str, name: str) -> tuple[Step, ...]:
    """Return the life of a workload of two pods or less: created, updated, taken back."""
    status = f"rollout status {kind}/{name} --timeout=60s"
    return (
        Step(f"apply-{kind}", f"apply -f {name}.yaml"),
        Step(f"rollout-status-{kind}", status, last=True),
        Step(f"get-{kind}", f"get {kind} {name} -o wide"),
        Step(f"get-{kind}-yaml", f"get {kind} {name} -o yaml"),
        Step(f"set-image-{kind}", f"set image {kind}/{name} main=shop/{name}:2"),
        Step(f"rollout-status-{kind}-image", status, last=True),
        Step(f"rollout-history-{kind}", f"rollout history {kind}/{name}"),
        Step(f"rollout-undo-{kind}", f"rollout undo {kind}/{name}"),
        Step(f"rollout-status-{kind}-undo", status, last=True),
        Step(f"get-{kind}-revisions", f"get controllerrevisions -l app={name}", unordered=True),
        Step(f"get-{kind}-images", f"get pods -l app={name} -o jsonpath={{..image}}"),
    )


SCRIPT = (
    Step("create-namespace", f"create namespace {NAMESPACE}"),
    Step("create-configmap", "create configmap settings --from-literal=mode=fast"),
    Step("create-secret", "create secret generic key --from-literal=token=canary"),
    Step("create-serviceaccount", "create serviceaccount robot"),
    Step("create-deployment", "create deployment hello --image=shop/hello:1 --replicas=1"),
    Step("create-again", "create configmap settings --from-literal=mode=slow"),
    Step("apply", "apply -f web-1.yaml"),
    Step("rollout-status", FOLLOW, last=True),
    Step("apply-unchanged", "apply -f web-1.yaml"),
    Step("get", "get deployment web"),
    Step("get-wide", "get deployment web -o wide"),
    Step("get-replicasets", "get replicasets -l app=web -o wide"),
    Step("get-pods", "get pods -l app=web"),
    Step("get-pods-wide", "get pods -l app=web -o wide"),
    Step("get-yaml", "get deployment web -o yaml"),
    Step("get-json", "get configmap settings -o json"),
    Step("get-secret", "get secret key -o yaml"),
    Step("get-names", "get deployments,configmaps -l app=web -o name"),
    Step("get-jsonpath", "get deployment web -o jsonpath={.status.readyReplicas}"),
    Step("get-columns", "get pods -l app=web -o custom-columns=PHASE:.status.phase"),
    Step("get-missing", "get deployment nowhere"),
    Step("get-unknown-kind", "get gadgets"),
    Step("get-by-field", "get pods --field-selector=status.phase=Failed"),
    Step("get-sorted", "get deployments --sort-by=.metadata.name"),
    Step(
        "get-events", "get events --field-selector=involvedObject.kind=Deployment", unordered=True
    ),
    Step("describe-deployment", "describe deployment web"),
    Step("describe-pod", "describe pods -l app=web"),
    Step("describe-configmap", "describe configmap settings"),
    Step("wait", "wait deployment/web --for=condition=Available --timeout=30s"),
    Step("logs", "logs deployment/web", last=True),
    Step("logs-tail", "logs deployment/web --tail=0"),
    Step("logs-of-nobody", "logs deployment/web -c nobody"),
    Step("diff", "diff -f web-2.yaml"),
    Step("apply-dry-run", "apply -f web-2.yaml --dry-run=server"),
    Step("apply-next", "apply -f web-2.yaml"),
    Step("rollout-status-next", FOLLOW, last=True),
    Step("rollout-history", "rollout history deployment/web"),
    Step("rollout-history-revision", "rollout history deployment/web --revision=2"),
    Step("set-image", "set image deployment/web web=shop/web:3"),
    Step("rollout-status-image", FOLLOW, last=True),
    Step("rollout-undo", "rollout undo deployment/web"),
    Step("rollout-status-undo", FOLLOW, last=True),
    Step("rollout-undo-revision", "rollout undo deployment/web --to-revision=1"),
    Step("rollout-status-revision", FOLLOW, last=True),
    Step("rollout-history-undone", "rollout history deployment/web"),
    Step("rollout-pause", "rollout pause deployment/web"),
    Step("rollout-pause-again", "rollout pause deployment/web"),
    Step("rollout-undo-paused", "rollout undo deployment/web"),
    Step("rollout-resume", "rollout resume deployment/web"),
    Step("rollout-restart", "rollout restart deployment/web"),
    Step("rollout-status-restart", FOLLOW, last=True),
    Step("get-replicasets-after", "get replicasets -l app=web", unordered=True),
    Step("scale", "scale deployment web --replicas=3"),
    Step("scale-unless", "scale deployment web --replicas=2 --current-replicas=7"),
    Step("rollout-status-scale", FOLLOW, last=True),
    Step("wait-jsonpath", "wait deployment/web --for=jsonpath={.status.readyReplicas}=3"),
    Step("autoscale", "autoscale deployment web --min=2 --max=4 --cpu=80%"),
    Step("get-autoscaler", "get horizontalpodautoscaler web"),
    Step("label", "label deployment web team=shop"),
    Step("label-again", "label deployment web team=other"),
    Step("label-remove", "label deployment web team-"),
    Step("annotate", "annotate deployment web note=checked"),
    Step("patch-strategic", 'patch deployment web -p {"spec":{"revisionHistoryLimit":5}}'),
    Step("patch-merge", 'patch deployment web --type=merge -p {"spec":{"minReadySeconds":1}}'),
    Step(
        "patch-json",
        "patch deployment web --type=json"
        ' -p [{"op":"replace","path":"/spec/minReadySeconds","value":0}]',
    ),
    Step("patch-invalid", 'patch deployment web -p {"spec":{"replicas":-1}}'),
    Step(
        "patch-scale",
        'patch deployment web --subresource=scale --type=merge -p {"spec":{"replicas":2}}',
    ),
    Step("rollout-status-patched", FOLLOW, last=True),
    Step("set-env", "set env deployment/hello COLOUR=blue"),
    Step("expose", "expose deployment web --port=80 --target-port=8080"),
    Step("get-service", "get service web -o wide"),
    # An API server that repairs its own notes of IP addresses may warn of it in an event.
    Step("describe-service", "describe service web --show-events=false"),
    Step("apply-server-side", "apply --server-side -f ssa-1.yaml"),
    Step("apply-conflict", "apply --server-side --field-manager=other -f ssa-2.yaml"),
    Step(
        "apply-forced", "apply --server-side --field-manager=other --force-conflicts -f ssa-2.yaml"
    ),
    Step(
        "get-managers",
        "get configmap shared --show-managed-fields"
        " -o jsonpath={range.metadata.managedFields[*]}{.manager}:{.operation};{end}",
    ),
    Step("apply-unknown-field", "apply -f unknown-field.yaml"),
    Step("apply-invalid", "apply -f invalid.yaml"),
    Step("apply-wrong-type", "apply -f wrong-type.yaml"),
    Step("create-without-namespace", "create configmap lost -n nowhere"),
    Step("replace", "replace -f ssa-2.yaml"),
    Step("auth-can-i", "auth can-i create deployments"),
    Step("auth-can-i-not", "auth can-i create deployments --as=nobody"),
    Step("auth-whoami", "auth whoami -o jsonpath={.status.userInfo.username}"),
    Step("api-resources", "api-resources --api-group=batch"),
    Step("api-resources-rbac", "api-resources --api-group=rbac.authorization.k8s.io"),
    *_of_workload("statefulset", "db"),
    *_of_workload("daemonset", "log"),
    Step("scale-statefulset", "scale statefulset db --replicas=1"),
    Step(
        "rollout-status-statefulset-scale", "rollout status statefulset/db --timeout=60s", last=True
    ),
    Step("apply-statefulset-fixed", "apply -f db-fixed.yaml"),
    Step("create-budget", "create poddisruptionbudget db --selector=app=db --min-available=1"),
    Step("wait-budget", "wait pdb/db --for=jsonpath={.status.currentHealthy}=1 --timeout=60s"),
    Step("get-budget", "get poddisruptionbudget db -o yaml"),
    Step("apply-job", "apply -f migrate.yaml"),
    Step("wait-job", "wait job/migrate --for=condition=complete --timeout=60s"),
    Step("get-job", "get job migrate -o wide"),
    Step("get-job-status", "get job migrate -o jsonpath={.status.succeeded}{.status.conditions}"),
    Step("patch-job-fixed", 'patch job migrate -p {"spec":{"completions":3}}'),
    Step("get-all", "get all -l app=web", unordered=True),
    Step("get-namespace", f"get namespace {NAMESPACE}"),
    Step("delete-pods", "delete pods -l app=web"),
    Step("rollout-status-deleted", FOLLOW, last=True),
    Step("delete", "delete deployment web"),
    Step("delete-again", "delete deployment web"),
    Step("delete-many", "delete configmap,secret --all"),
    Step("wait-deleted", "wait pods -l app=web --for=delete --timeout=60s"),
    Step("delete-namespace", f"delete namespace {NAMESPACE} --timeout=60s"),
    Step("get-gone", f"get namespace {NAMESPACE}"),
)


def write_manifests(folder: Path) -> None:
    """Write the files that the script names."""
    web = manifests.deployment(replicas=2)
    second = manifests.deployment(replicas=2, image="shop/web:2", env={"MODE": "fast"})
    unknown: JSON = manifests.deployment("odd", replicas=1, speed=3)
    invalid: JSON = manifests.deployment("odd", replicas=-1)
    invalid["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    wrong: JSON = manifests.deployment("odd")
    wrong["spec"]["replicas"] = "two"
    files = {
        **_other_workloads(),
        "web-1.yaml": web,
        "web-2.yaml": second,
        "ssa-1.yaml": manifests.config_map("shared", {"a": "1", "b": "1"}),
        "ssa-2.yaml": manifests.config_map("shared", {"a": "2"}),
        "unknown-field.yaml": unknown,
        "invalid.yaml": invalid,
        "wrong-type.yaml": wrong,
    }
    for name, body in files.items():
        (folder / name).write_text(manifests.yaml_text(body))


def _other_workloads() -> dict[str, JSON]:
    """Return a StatefulSet, what may not become of it, a DaemonSet and a Job."""
    db = _workload("apps/v1", "StatefulSet", "db", serviceName="db", replicas=2)
    log = _workload("apps/v1", "DaemonSet", "log")
    migrate = _workload("batch/v1", "Job", "migrate")
    migrate["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    del migrate["spec"]["selector"]
    return {
        "db.yaml": db,
        "db-fixed.yaml": {**db, "spec": {**db["spec"], "serviceName": "other"}},
        "log.yaml": log,
        "migrate.yaml": migrate,
    }


def _workload(version: str, kind: str, name: str, **spec: Any) -> JSON:
    labels = {"app": name}
    containers = [{"name": "main", "image": f"shop/{name}:1"}]
    pods = {"containers": containers, "terminationGracePeriodSeconds": 1}
    template: JSON = {"metadata": {"labels": labels}, "spec": pods}
    whole = {**spec, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": whole}


def run(step: Step, kubectl: Program, namespace: str) -> Said:
    """Run a step; return what it said, without what is the cluster's own."""
    words = [word.replace(NAMESPACE, namespace) for word in step.words.split(" ")]
    return said(step, kubectl(*words, "-n", namespace) if "-n" not in words else kubectl(*words))


def said(step: Step, result: Result) -> Said:
    """Return what a step said, without what is the cluster's own."""
    out, errors = (_lines(text) for text in (result.stdout, result.stderr))
    if step.last:
        out = out[-1:]
    if step.unordered:
        out = sorted(out)
    return Said(result.exit_code, tuple(out), tuple(errors))


def _lines(text: str) -> list[str]:
    for pattern, word in _OWN:
        text = pattern.sub(word, text)
    return [line.strip() for line in text.splitlines()]


_AGE = r"(?<![\w./:-])(?:\d+[smhdy]){1,2}(?![\w./:-])"
_OWN = tuple(
    (re.compile(pattern, re.MULTILINE), word)
    for pattern, word in (
        (r"https://127\.0\.0\.1:\d+", "SERVER"),
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
        (r"\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} [+-]\d{4}", "DATE"),
        (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?(Z| [+-]\d{4})?", "TIME"),
        (r"\b\d+\.\d+\.\d+\.\d+\b", "IP"),
        (r"\b[0-9a-f]{64}\b", "DIGEST"),
        (r"resourceVersion: \"\d+\"", "resourceVersion: RV"),
        (r"\"resourceVersion\": \"\d+\"", '"resourceVersion": RV'),
        (r"/\S*/(LIVE|MERGED)-\d+/", r"\1/"),
        (r"\b(rig|sandbox)-0\b", "NODE"),
        (rf"([-=])[{NAME_LETTERS}]{{8,10}}-[{NAME_LETTERS}]{{5}}\b", r"\1HASH-SUFFIX"),
        (rf"([-=])[{NAME_LETTERS}]{{8,10}}\b", r"\1HASH"),
        (_AGE, "AGE"),
        (r"-{4,}", "----"),
        (r" {2,}", "  "),
    )
)
