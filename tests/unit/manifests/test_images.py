"""`--image`: which containers it sets, and which references it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gate.errors import UsageError
from gate.manifests.containers import containers
from gate.manifests.image_reference import is_pinned, is_reference
from gate.manifests.images import ImageOverride, with_images
from gate.manifests.manifest import Manifest
from tests.table import each

Loaded = Callable[[str], Manifest]

DIGEST = "sha256:" + "0123456789abcdef" * 4

SHOP = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      initContainers: [{name: migrate, image: "old:1"}]
      containers: [{name: app, image: "old:1"}, {name: proxy, image: "old:1"}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker}
spec: {template: {spec: {containers: [{name: app, image: "old:1"}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: web}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: app, image: "old:1"}]}}}}}
---
apiVersion: v1
kind: Pod
metadata: {name: shell}
spec: {containers: [{name: shell}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {image: "$(app)"}
"""


def images(manifest: Manifest) -> dict[str, Any]:
    """Return the image of each container of a manifest by its path."""
    return {
        f"{item}/{container['name']}": container.get("image")
        for item in manifest.objects
        for container in containers(item)
    }


def overridden(manifest: Manifest, *texts: str) -> dict[str, Any]:
    """Return what the overrides changed."""
    before = images(manifest)
    after = images(with_images(manifest, [ImageOverride.parse(text) for text in texts]))
    return {path: image for path, image in after.items() if image != before[path]}


@pytest.mark.contract("B227")
@pytest.mark.parametrize(
    ("texts", "changed"),
    [
        (["migrate=n:2"], {"deployment/web/migrate": "n:2"}),
        (
            ["app=n:2"],
            dict.fromkeys(
                ["deployment/web/app", "deployment/worker/app", "cronjob/web/app"], "n:2"
            ),
        ),
        (["web/app=n:2"], {"deployment/web/app": "n:2"}),
        (["shell=n:2"], {"pod/shell/shell": "n:2"}),
        (
            ["worker/app=n:3", "app=n:2"],
            {"deployment/web/app": "n:2", "deployment/worker/app": "n:3", "cronjob/web/app": "n:2"},
        ),
        (
            [f"proxy=r.io:5000/a/b:1@{DIGEST}"],
            {"deployment/web/proxy": f"r.io:5000/a/b:1@{DIGEST}"},
        ),
        (["app=old:1"], {}),
        ([], {}),
    ],
)
def test_an_override_sets_the_containers_that_it_names(
    loaded: Loaded, texts: list[str], changed: dict[str, str]
) -> None:
    """By name in every workload, in one Deployment where it is chosen; the exact one wins."""
    assert overridden(loaded(SHOP), *texts) == changed


@pytest.mark.contract("B227")
@pytest.mark.parametrize("target", ["api", "web/api", "shell/shell", "other/app"])
def test_a_name_that_no_container_has_names_those_that_exist(loaded: Loaded, target: str) -> None:
    """A slip in the name would otherwise deploy the old image; a Pod is no Deployment."""
    with pytest.raises(UsageError) as refused:
        overridden(loaded(SHOP), f"{target}=n:2")
    assert refused.value.message == f"--image {target}: no container of that name in the manifest"
    assert refused.value.hint == (
        "there are cronjob/web: app, deployment/web: app, deployment/web: migrate,"
        " deployment/web: proxy, deployment/worker: app, pod/shell: shell"
    )


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        *(([text], "names no container") for text in ("", "app", "=n:2", "App=n:2", "a/b/c=n:2")),
        *(([text], "names no container") for text in ("/app=n:2", "app =n:2")),
        (["app=n:2", "app=n:3"], "given twice"),
    ],
)
def test_an_override_needs_one_container(loaded: Loaded, texts: list[str], said: str) -> None:
    """The hint shows both forms."""
    with pytest.raises(UsageError, match=f"^--image .*: {said}$") as refused:
        overridden(loaded(SHOP), *texts)
    assert said == "given twice" or "WORKLOAD/CONTAINER=REF" in refused.value.hint


@each(
    "reference",
    [
        *("nginx", "nginx:1.27", "library/nginx", "r.example.com/a/b_c/d.e-f:v1.0_x-2"),
        *("localhost/a", "localhost:5000/a:1", "REG.Example.com/a", "[::1]:5000/a", "10.0.0.1/a"),
        *(f"a@{DIGEST}", f"a:1@{DIGEST}", "a__b/c--d", "a" * 247),
        *("Reg/a", "a_b.c/d", "r.io/" + "a" * 255, f"a@sha512:{'0' * 128}"),
    ],
)
def test_references_that_a_runtime_takes(reference: str) -> None:
    """Registry, path, tag, digest."""
    assert is_reference(reference)


def test_nothing_is_expanded(loaded: Loaded) -> None:
    """Text that looks like a variable stays text."""
    assert loaded(SHOP).objects[0].body["data"] == {"image": "$(app)"}


@pytest.mark.parametrize(
    "reference",
    [
        *("", " nginx", "nginx ", "ng inx", "Nginx", "nginx:", "nginx:a b", ":1", "a@sha256:12"),
        *("https://r.io/a", "a//b", "a/", "/a", "a:1:2", f"a:1@{DIGEST}@{DIGEST}", "a\n", "ä"),
        *("a" * 248, "r.io/" + "a" * 256, "a:" + "1" * 129, "-a", "a:-1", "a" * 10_000),
        *("0" * 64, "-a/b", "-a.b/c", "shop/Web", f"a@{DIGEST[:-1]}", f"a@{DIGEST.upper()}"),
        *(f"a@md5:{'0' * 32}", f"a@{DIGEST}0", "$(TAG)", "{{ .Values.image }}", "${IMAGE}"),
    ],
)
def test_references_that_none_takes(reference: str) -> None:
    """A kubelet would answer InvalidImageName minutes later."""
    assert not is_reference(reference)
    with pytest.raises(UsageError, match="is no image reference"):
        ImageOverride.parse(f"app={reference}")


@pytest.mark.parametrize(
    ("reference", "pinned"),
    [
        ("a", False),
        ("a:latest", False),
        ("r:5000/a", False),
        ("a:1", True),
        (f"a@{DIGEST}", True),
        (f"a:latest@{DIGEST}", True),
    ],
)
def test_an_image_is_pinned_by_a_version_or_a_digest(reference: str, pinned: bool) -> None:
    """A registry's port is no tag."""
    assert is_pinned(reference) is pinned


@pytest.mark.parametrize(
    "spec",
    [
        *("~", "[]", "1", "{template: ~}", "{template: {spec: [1]}}"),
        *("{template: {spec: {containers: {a: 1}}}}", "{template: {spec: {containers: [1, {}]}}}"),
        "{template: {spec: {containers: [{name: 1}], initContainers: ~}}}",
    ],
)
def test_a_malformed_spec_has_no_containers(loaded: Loaded, spec: str) -> None:
    """What is wrong with it is the server's to say, by field."""
    text = f"{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: a}}, spec: {spec}}}"
    assert containers(loaded(text).objects[0]) == []


@pytest.mark.contract("B230")
def test_every_image_that_is_none_is_named_with_its_line(loaded: Loaded) -> None:
    """Of init containers and of what is not judged too; what is missing is the server's to tell."""
    text = SHOP.replace('proxy, image: "old:1"', "proxy, image: ' '").replace(
        'migrate, image: "old:1"', "migrate, image: 'old web'"
    )
    with pytest.raises(UsageError) as refused:
        overridden(loaded(text.replace('"old:1"}]}}}}}', "'{{ image }}'}]}}}}}")))
    problems = [problem.removeprefix("<stdin>:") for problem, _ in refused.value.list_problems()]
    assert problems == [
        '8: deployment/web: "old web" is no image reference',
        '9: deployment/web: " " is no image reference',
        '19: cronjob/web: "{{ image }}" is no image reference',
    ]
    assert "--image app=registry/shop/web:1" in refused.value.hint
    assert with_images(loaded(SHOP.replace('"old:1"', "''")), []).objects


@pytest.mark.contract("B230", "B227")
def test_an_override_replaces_what_is_no_reference(loaded: Loaded) -> None:
    """A placeholder in the manifest is what --image is for."""
    manifest = loaded(SHOP.replace('proxy, image: "old:1"', "proxy, image: '${PROXY}'"))
    assert overridden(manifest, "proxy=n:2")["deployment/web/proxy"] == "n:2"
