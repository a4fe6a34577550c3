"""The locks in a test's cluster: those that are held, and holders on another machine."""

from __future__ import annotations

import json

from gate.kube.locks.lease import HOLDER
from tests.bed.scene import Scene


def held_locks(scene: Scene) -> list[str]:
    """Return the names of the Leases that somebody holds."""
    found = scene.objects.list_all("leases")
    held = (lease for lease in found if lease["spec"].get("holderIdentity"))
    return sorted(lease["metadata"]["name"] for lease in held)


def on_another_machine(scene: Scene) -> None:
    """Make the holders of all locks processes of a machine of which nobody here knows anything."""
    for name in held_locks(scene):
        annotations = scene.objects.get("leases", name)["metadata"]["annotations"]
        said = json.loads(annotations[HOLDER])
        assert said["process"], "the holder does not say which process it is"
        said["process"]["boot_id"] = "another"
        patch = {"metadata": {"annotations": {HOLDER: json.dumps(said)}}}
        scene.objects.patch("leases", name, patch)
