"""What others do to the Deployment: its replicas, its template, the rest of it, its owners."""

from __future__ import annotations

import random

from tests.bed.scene import autoscaler
from tests.cluster.kubelet.api import JSON
from tests.interference.actions.table import CONFLICT, OVERTAKEN, action
from tests.interference.stage import APPLY_PATCH, JSON_PATCH, Stage

# -- replicas and autoscalers ----------------------------------------------------------------------


def _scale(stage: Stage, replicas: int) -> None:
    stage.run_kubectl("scale", "deployment/web", f"--replicas={replicas}")


@action(early=CONFLICT)
def scale_up(stage: Stage, chance: random.Random) -> None:
    """Scale the Deployment up by hand."""
    _scale(stage, chance.randint(4, 5))


@action(early=CONFLICT)
def scale_down(stage: Stage, chance: random.Random) -> None:
    """Scale the Deployment down to one pod by hand."""
    _scale(stage, 1)


@action(ends=[0], early=CONFLICT)
def scale_to_zero(stage: Stage, chance: random.Random) -> None:
    """Take all pods away by hand: a version without pods is complete."""
    _scale(stage, 0)


@action()
def autoscaler_created(stage: Stage, chance: random.Random) -> None:
    """Create an HPA for the Deployment."""
    stage.objects.create("horizontalpodautoscalers", autoscaler())


@action(early=CONFLICT)
def autoscaler_changed(stage: Stage, chance: random.Random) -> None:
    """Raise the HPA's maximum, if there is one."""
    stage.patch("horizontalpodautoscalers", "web", {"spec": {"maxReplicas": 12}})


@action(early=CONFLICT)
def autoscaler_deleted(stage: Stage, chance: random.Random) -> None:
    """Delete the HPA, if there is one; where the manifest has it, it is not made again."""
    stage.objects.delete("horizontalpodautoscalers", "web")


@action(early=[3])
def autoscaler_scales(stage: Stage, chance: random.Random) -> None:
    """Write replicas as the HPA controller does: through the scale subresource."""
    body = {"spec": {"replicas": chance.randint(3, 5)}}
    stage.patch("deployments", "web", body, subresource="scale")


@action(early=CONFLICT)
def replicas_removed(stage: Stage, chance: random.Random) -> None:
    """Take the field away, which returns it to its default of one."""
    patch = [{"op": "remove", "path": "/spec/replicas"}]
    stage.patch("deployments", "web", patch, JSON_PATCH)


# -- the pod template ------------------------------------------------------------------------------


@action(ends=[8], early=OVERTAKEN)
def set_image(stage: Stage, chance: random.Random) -> None:
    """Roll out another image by hand."""
    stage.run_kubectl("set", "image", "deployment/web", "web=shop/web:hand")


@action(ends=[8], early=OVERTAKEN)
def set_variable_of_ours(stage: Stage, chance: random.Random) -> None:
    """Change an environment variable that the manifest has."""
    stage.run_kubectl("set", "env", "deployment/web", "VERSION=hand")


@action(early=CONFLICT)
def set_variable_of_theirs(stage: Stage, chance: random.Random) -> None:
    """Add an environment variable that the manifest does not have."""
    stage.run_kubectl("set", "env", "deployment/web", "DEBUG=1")


@action(early=CONFLICT)
def restart(stage: Stage, chance: random.Random) -> None:
    """Restart the pods."""
    stage.run_kubectl("rollout", "restart", "deployment/web")


@action(ends=[8], early={0, *OVERTAKEN})
def undo_by_kubectl(stage: Stage, chance: random.Random) -> None:
    """Go back a revision by hand."""
    stage.run_kubectl("rollout", "undo", "deployment/web")


@action(early=CONFLICT)
def template_annotated(stage: Stage, chance: random.Random) -> None:
    """Annotate the template, as a reloader does."""
    annotations = {"example.com/hash": str(chance.randrange(1000))}
    stage.patch_web({"spec": {"template": {"metadata": {"annotations": annotations}}}})


@action(early=CONFLICT)
def sidecar_injected(stage: Stage, chance: random.Random) -> None:
    """Add a container as another field manager."""
    containers = [{"name": "mesh", "image": "mesh/proxy:1"}]
    template = {"spec": {"containers": containers}}
    stage.patch("deployments", "web", _deployment({"template": template}), APPLY_PATCH)


def _deployment(spec: JSON) -> JSON:
    metadata = {"name": "web"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


# -- the Deployment beside its template ------------------------------------------------------------


@action(ends=[6], early={6, *CONFLICT})
def pause(stage: Stage, chance: random.Random) -> None:
    """Pause the rollout."""
    stage.run_kubectl("rollout", "pause", "deployment/web")


@action()
def resume(stage: Stage, chance: random.Random) -> None:
    """Resume a rollout that may be paused."""
    stage.patch_web({"spec": {"paused": None}})


@action()
def labelled(stage: Stage, chance: random.Random) -> None:
    """Label the Deployment."""
    stage.run_kubectl("label", "deployment/web", "team=blue", "--overwrite")


@action()
def annotated(stage: Stage, chance: random.Random) -> None:
    """Annotate the Deployment."""
    stage.run_kubectl("annotate", "deployment/web", "example.com/note=seen", "--overwrite")


@action(early=CONFLICT, may_fail=True)
def deadline_changed(stage: Stage, chance: random.Random) -> None:
    """Change the progress deadline."""
    seconds = chance.choice((2, 60))
    stage.patch_web({"spec": {"progressDeadlineSeconds": seconds}})


@action(ends=[8], early=[0, 3, 4, 6, 8])
def deployment_deleted(stage: Stage, chance: random.Random) -> None:
    """Delete the Deployment."""
    stage.objects.delete("deployments", "web")


@action(ends=[8], early=[0, 3, 4, 6, 8])
def deployment_made_again(stage: Stage, chance: random.Random) -> None:
    """Delete the Deployment and make it again, as it was."""
    live = stage.objects.get("deployments", "web")
    stage.objects.delete("deployments", "web")
    metadata = {key: live["metadata"].get(key) for key in ("name", "labels", "annotations")}
    stage.objects.create("deployments", {"metadata": metadata, "spec": live["spec"]})


# -- ownership -------------------------------------------------------------------------------------


@action(ends=[5, 8], early=CONFLICT)
def fields_owned_by_force(stage: Stage, chance: random.Random) -> None:
    """Apply the Deployment's template as it is under another manager's name, by force."""
    live = stage.objects.get("deployments", "web")
    metadata = {"labels": live["spec"]["template"]["metadata"]["labels"]}
    [container, *_] = live["spec"]["template"]["spec"]["containers"]
    containers = [{key: container[key] for key in ("name", "image", "env")}]
    template = {"metadata": metadata, "spec": {"containers": containers}}
    stage.patch("deployments", "web", _deployment({"template": template}), APPLY_PATCH)


@action(ends=[5, 8], early=CONFLICT)
def managed_fields_removed(stage: Stage, chance: random.Random) -> None:
    """Take away all entries of the managed fields."""
    patch = [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]
    stage.patch("deployments", "web", patch, JSON_PATCH)
