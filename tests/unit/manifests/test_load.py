"""What a load makes of whole manifests: objects, their identity, their order, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.manifests.load import load
from gate.manifests.manifest import Manifest
from gate.manifests.namespaces import in_namespace
from tests.table import each

Loaded = Callable[[str], Manifest]
Complaint = Callable[[str], UsageError]


def config_map(name: str, namespace: str | None = None) -> str:
    """Return a small object, as one line of YAML."""
    metadata = f"{{name: {name}, namespace: {namespace}}}" if namespace else f"{{name: {name}}}"
    return f"{{apiVersion: v1, kind: ConfigMap, metadata: {metadata}}}"


def hooked(name: str, hooks: str) -> str:
    """Return a Job that is a Helm hook, as one line of YAML."""
    metadata = f'{{name: {name}, annotations: {{helm.sh/hook: "{hooks}"}}}}'
    return f"{{apiVersion: batch/v1, kind: Job, metadata: {metadata}}}"


def a_list(items: str) -> str:
    """Return a List of objects, as one line of YAML."""
    return f"{{apiVersion: v1, kind: List, items: [{items}]}}"


DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: "
JOB = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: "
RENDERED_CHART = """---
# Source: shop/templates/ingress.yaml
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop}
---
# Source: shop/templates/hpa.yaml
---
# Source: shop/templates/configmap.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: shop}
data:
  on: "yes"
---
apiVersion: v1
kind: Pod
metadata:
  name: shop-test
  annotations:
    "helm.sh/hook": test-success,test
"""


@pytest.mark.contract("B224", "B226")
def test_a_rendered_chart_is_applied_without_its_tests(loaded: Loaded) -> None:
    """What `helm template` prints: comments, an empty document, a test hook, any order."""
    manifest = loaded(RENDERED_CHART)
    assert [str(item) for item in manifest.objects] == [
        "configmap/shop",
        "ingress/shop",
    ]
    assert [(str(skip.object), skip.why) for skip in manifest.skipped] == [
        ("pod/shop-test", "a Helm test hook")
    ]
    assert manifest.objects[0].body["data"] == {"true": "yes"}


@pytest.mark.contract("B224")
def test_other_hooks_are_refused_by_name_all_at_once(complaint: Complaint) -> None:
    """An apply cannot run a migration before the rest: it says so instead of pretending."""
    hooks = {
        "migrate": "pre-install, pre-upgrade",
        "crds": "crd-install",
        "mixed": "test,post-install",
    }
    text = "\n---\n".join(hooked(name, hook) for name, hook in hooks.items())
    error = complaint(text)
    assert error.message == (
        "<stdin>:1: Helm hooks are not run: job/migrate (pre-install, pre-upgrade, <stdin>:1),"
        " job/crds (crd-install, <stdin>:3), job/mixed (post-install, test, <stdin>:5)"
    )
    assert error.hint == "render with `helm template --no-hooks` and run them as steps of their own"


@pytest.mark.contract("B210")
def test_lists_stand_for_their_items(loaded: Loaded) -> None:
    """Lists in lists, typed lists whose items do not repeat their kind, and empty ones."""
    manifest = loaded(f"""
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: List
  items:
  - {config_map("a")}
  - kind: List
    apiVersion: v1
    items: []
- apiVersion: v1
  kind: ConfigMapList
  metadata: {{}}
  items:
  - metadata: {{name: b}}
  - metadata:
      name: c
- {{apiVersion: v1, kind: SecretList, items: null}}
""")
    assert [(item.name, item.kind, item.source.line) for item in manifest.objects] == [
        ("a", "ConfigMap", 8),
        ("b", "ConfigMap", 16),
        ("c", "ConfigMap", 17),
    ]
    assert manifest.objects[1].body == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "b"},
    }


POD = "apiVersion: v1\nkind: Pod\nmetadata: "
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization"
NOTHING = "holds no Kubernetes object"
MISPLACED = "where a Kubernetes object should stand"


@pytest.mark.contract("B212")
@each(
    ("text", "message", "hint"),
    [
        ("", f": {NOTHING}", "before the pipe"),
        ("# nothing\n---\n", f": {NOTHING}", "before the pipe"),
        (hooked("t", "test"), ": holds Helm tests and nothing to apply", ""),
        ("hello", f":1:1: text {MISPLACED}", ""),
        ("\n- a", f":2:1: a list {MISPLACED}", ""),
        ("a: 1", ":1: apiVersion, kind, metadata.name missing", ""),
        ("kind: [x]\nmetadata: x", ":1: apiVersion, metadata.name missing", ""),
        (f"{POD}{{generateName: x-}}", ":1: metadata.name missing", "give it a name"),
        (KUSTOMIZATION, ":1: metadata.name missing", "kustomize build"),
        (a_list("{apiVersion: v1, kind: Pod}"), ":1: metadata.name missing", ""),
        (a_list("{metadata: {name: a}}"), ":1: apiVersion, kind missing", ""),
        ("apiVersion: v1\nkind: List\nitems:\n- a", f":4:3: text {MISPLACED}", ""),
        (f"---\n{POD}{{name: 12}}", ":2: metadata.name is no text but 12", "put it in quotes"),
        (f"{POD}{{name: on}}", ":1: metadata.name is no text but true", "put it in quotes"),
    ],
)
def test_what_is_no_object_is_one_line(
    complaint: Complaint, text: str, message: str, hint: str
) -> None:
    """Everything that is missing is named at once, where the object begins."""
    error = complaint(text)
    assert error.message == f"<stdin>{message}"
    assert hint in error.hint


@pytest.mark.contract("B214")
@each(
    ("text", "what"),
    [
        ("apiVersion: v1/../x\nkind: Pod\nmetadata: {name: a}", 'apiVersion "v1/../x"'),
        ('apiVersion: v1\nkind: "Pod\\n::error::"\nmetadata: {name: a}', r'kind "Pod\n::error::"'),
        *(
            (f"{POD}{{name: {name}}}", f'metadata.name "{name}"')
            for name in ("../../x", "a%2fb", ".")
        ),
        *((f"{head}Web_X}}", 'metadata.name "Web_X"') for head in (DEPLOYMENT, JOB)),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a.-b}", 'metadata.name "a.-b"'),
        (f"{POD}{{name: a, namespace: a/b}}", 'metadata.namespace "a/b"'),
    ],
)
def test_an_identity_cannot_lead_elsewhere(complaint: Complaint, text: str, what: str) -> None:
    """Names become parts of URLs and lines of output: what could change either is refused."""
    assert complaint(text).message == f"<stdin>:1: {what} is not valid"


@pytest.mark.contract("B213")
def test_two_objects_of_one_identity_name_both_places(tmp_path: Path, loaded: Loaded) -> None:
    """Group, kind, namespace and name: in two files, and in two versions of the API."""
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    meta = "metadata: {name: web, namespace: shop}\n"
    first.write_text(f"\napiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\n{meta}")
    second.write_text(f"apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n{meta}")
    with pytest.raises(UsageError) as refused:
        load([str(first), str(second)])
    assert refused.value.message == (
        f"{second}:1: horizontalpodautoscaler/web is defined twice in the manifest, "
        f"first at {first}:2"
    )
    other = "{apiVersion: example.com/v1, kind: AllowList, metadata: {name: a}}"
    text = "\n---\n".join([config_map("a", "one"), config_map("a", "two"), config_map("a"), other])
    manifest = loaded(text)
    assert len(manifest.objects) == 4
    twice = r"^<stdin>:\d: configmap/a is defined twice in the manifest"
    with pytest.raises(UsageError, match=twice):
        in_namespace(manifest, "one", enforced=False)


@pytest.mark.contract("B252")
def test_a_body_is_in_no_repr(loaded: Loaded) -> None:
    """Secrets do not reach logs by way of a value that is printed."""
    text = "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {key: canary-1234}}"
    assert "canary" not in repr(loaded(text))


def test_a_namespace_is_filled_where_none_stands(loaded: Loaded) -> None:
    """As with kubectl: the default of the context contradicts nobody."""
    cluster = "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"
    text = "\n---\n".join(
        [config_map("a"), config_map("b", "other"), config_map("c", '""'), cluster]
    )
    manifest = in_namespace(loaded(text), "shop", enforced=False)
    assert {item.name: item.namespace for item in manifest.objects} == {
        "a": "shop",
        "b": "other",
        "c": "shop",
        "shop": None,
    }
    bodies = {item.name: item.body["metadata"].get("namespace") for item in manifest.objects}
    assert bodies == {"a": "shop", "b": "other", "c": "shop", "shop": None}


@pytest.mark.contract("B231")
def test_a_namespace_that_contradicts_the_flag_is_an_error(loaded: Loaded) -> None:
    """`-n` means every object, and no object is moved silently."""
    with pytest.raises(UsageError) as refused:
        in_namespace(loaded(f"\n{config_map('a', 'other')}"), "shop", enforced=True)
    assert refused.value.message == "<stdin>:2: configmap/a belongs to namespace other, not to shop"
    assert "--namespace other" in refused.value.hint
    same = in_namespace(loaded(config_map("a", "shop")), "shop", enforced=True)
    assert same.objects[0].namespace == "shop"


def test_custom_kinds_have_a_namespace_unless_the_server_says_otherwise(loaded: Loaded) -> None:
    """Discovery alone knows their scope."""
    manifest = loaded("{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}")
    assert in_namespace(manifest, "shop", enforced=True).objects[0].namespace == "shop"
    scoped = frozenset({("example.com", "Widget")})
    cluster = in_namespace(manifest, "shop", enforced=True, cluster_scoped=scoped)
    assert cluster.objects[0].namespace is None
