"""What others do with whole manifests, and to the configuration."""

from __future__ import annotations

import base64
import random

from tests.interference import shop
from tests.interference.actions.table import CONFLICT, OVERTAKEN, action
from tests.interference.stage import JSON_PATCH, Stage

FINALIZER = "example.com/hold"

# -- whole manifests -------------------------------------------------------------------------------


@action(ends=[8], early=OVERTAKEN)
def kubectl_applies_the_old_version(stage: Stage, chance: random.Random) -> None:
    """Apply version 1 with kubectl."""
    stage.run_kubectl("apply", "-f", stage.manifest(1))


@action(ends=[5], early=[3])
def kubectl_applies_the_same_version(stage: Stage, chance: random.Random) -> None:
    """Apply the attempt's own manifest with kubectl.

    Between the dry run and the attempt's first write it changes what was decided on: refused.
    """
    stage.run_kubectl("apply", "-f", stage.manifest(shop.NEW))


@action(ends=[8], early=OVERTAKEN | {5})
def kubectl_applies_a_third_version(stage: Stage, chance: random.Random) -> None:
    """Apply version 3 with kubectl.

    Before the attempt read anything it does not serve yet: a failure returns to the verified set,
    whose Secret is not remembered.
    """
    stage.run_kubectl("apply", "-f", stage.manifest(shop.THIRD))


@action(ends=[5])
def server_side_apply_of_the_same_version(stage: Stage, chance: random.Random) -> None:
    """Apply the attempt's own manifest on the server's side: all fields have two owners."""
    stage.run_kubectl("apply", "--server-side", "-f", stage.manifest(shop.NEW))


@action(ends=[8], early=OVERTAKEN)
def server_side_apply_without_force(stage: Stage, chance: random.Random) -> None:
    """Apply version 3 on the server's side, which refuses what others own.

    Fields that an earlier `kubectl apply` had set are kubectl's own, and change.
    """
    manifest = stage.manifest(shop.THIRD)
    stage.kubectl("apply", "--server-side", "-f", manifest)


@action(ends=[8], early=OVERTAKEN)
def server_side_apply_by_force(stage: Stage, chance: random.Random) -> None:
    """Apply version 3 on the server's side by force: all fields change their owner."""
    manifest = stage.manifest(shop.THIRD)
    stage.run_kubectl("apply", "--server-side", "--force-conflicts", "-f", manifest)


# -- configuration ---------------------------------------------------------------------------------


@action(early=CONFLICT)
def key_of_ours_edited(stage: Stage, chance: random.Random) -> None:
    """Change a key of the ConfigMap that the manifest has."""
    stage.patch("configmaps", shop.SETTINGS, {"data": {"mode": "hand"}})


@action()
def foreign_key_added(stage: Stage, chance: random.Random) -> None:
    """Add a key to the ConfigMap."""
    stage.patch("configmaps", shop.SETTINGS, {"data": {"theirs": "1"}})


@action(early=[3])
def config_map_deleted(stage: Stage, chance: random.Random) -> None:
    """Delete the ConfigMap."""
    stage.objects.delete("configmaps", shop.SETTINGS)


@action(early=CONFLICT)
def config_map_replaced(stage: Stage, chance: random.Random) -> None:
    """Replace all keys of the ConfigMap."""
    live = stage.objects.get("configmaps", shop.SETTINGS)
    data = {shop.VERSION: "hand", "mode": "hand"}
    patch = [{"op": "replace", "path": "/data", "value": data}]
    assert live["data"] != data
    stage.patch("configmaps", shop.SETTINGS, patch, JSON_PATCH)


@action(ends=[5], early=[3])
def config_map_made_immutable(stage: Stage, chance: random.Random) -> None:
    """Make the ConfigMap immutable, so that nobody can restore its data."""
    stage.patch("configmaps", shop.SETTINGS, {"immutable": True})


@action(early=CONFLICT)
def secret_changed(stage: Stage, chance: random.Random) -> None:
    """Change the Secret's key."""
    data = {shop.VERSION: base64.b64encode(b"hand").decode()}
    stage.patch("secrets", shop.KEYS, {"data": data})


@action(early=CONFLICT)
def service_changed(stage: Stage, chance: random.Random) -> None:
    """Lead the Service to another port."""
    patch = [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9090}]
    stage.patch("services", "web", patch, JSON_PATCH)


@action(early=[3])
def service_deleted(stage: Stage, chance: random.Random) -> None:
    """Delete the Service."""
    stage.objects.delete("services", "web")


@action()
def finalizer_put_on(stage: Stage, chance: random.Random) -> None:
    """Put a finalizer on a ConfigMap, the one that the attempt creates if it does."""
    name = shop.CREATED if stage.objects.find("configmaps", shop.CREATED) else shop.SETTINGS
    stage.patch("configmaps", name, {"metadata": {"finalizers": [FINALIZER]}})
