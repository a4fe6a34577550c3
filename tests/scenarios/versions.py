"""Versions of `web` that serve, fail or stay, and what is there and said of them afterwards."""

from __future__ import annotations

import base64
import gzip
import json

from gate.report.formats.text import verdict_text
from gate.report.style.style import Style
from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
)
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON

CRASH = "crash=0.1"
KEEP = ("--on-failure", "keep")
DOCUMENT = ("--output", "json")


def mode(scene: Scene) -> str:
    """Return what the ConfigMap says."""
    value: str = scene.objects.get("configmaps", "settings")["data"]["mode"]
    return value


def history(scene: Scene) -> JSON:
    """Return what the lock remembers of the Deployment."""
    annotations = scene.objects.get("leases", "rollout-gate.deployment.web")["metadata"][
        "annotations"
    ]
    packed = base64.b64decode(annotations["rollout-gate/history"])
    found: JSON = json.loads(gzip.decompress(packed))
    return found


def history_rows(scene: Scene, name: str = "web") -> list[JSON]:
    """Return the revisions that `history` tells of, as a program reads them."""
    rows: list[JSON] = json.loads(scene.gate("history", name, *DOCUMENT).stdout)
    return rows


def report(scene: Scene, result: Result) -> str:
    """Return what a person reads of a result document, with what to do next."""
    (scene.folder / "result.json").write_text(result.stdout)
    return scene.gate("report", "result.json").stdout


def screen(result: Result) -> str:
    """Return the verdict of a run that was asked for its document."""
    return verdict_text(result.document, Style(width=200))


def one_line(text: str) -> str:
    """Return a text as it reads, wherever its lines are broken."""
    return " ".join(text.split())


def undo(scene: Scene, *words: str) -> Result:
    """Undo `web`, with a document on stdout."""
    return scene.gate("undo", "web", *words, *DOCUMENT)


def verify_versions(scene: Scene, *versions: int) -> None:
    """Verify versions one after the other; the configuration of each says its number."""
    for version in versions:
        assert_verified(scene.apply(settings(str(version)), web(version)))


def apply_and_keep(scene: Scene, *bodies: JSON) -> None:
    """Apply a version that crashes, and let it stand."""
    ended = scene.apply(*bodies, flags=KEEP)
    assert_ended(ended, 6, "failed", "CrashLoop")


def assert_a_failure_returns_to(scene: Scene, number: int, configuration: str = "") -> Result:
    """Let another version crash: this one serves again, with its number as configuration or so.

    As many pods run as before, whatever both versions say.
    """
    replicas = scene.objects.get("deployments", "web")["spec"]["replicas"]
    result = scene.apply(settings("8"), web(8, behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, f"shop/web:{number}", replicas=replicas)
    assert mode(scene) == (configuration or str(number))
    return result


def keep_a_bad_version(scene: Scene, configuration: JSON | None = None) -> None:
    """Verify v1, then let a crashing v9 stand, with a configuration of its own or the one given."""
    assert_verified(scene.apply(settings("one"), web()))
    beside = settings("nine") if configuration is None else configuration
    apply_and_keep(scene, beside, web(9, behaviour=CRASH))
