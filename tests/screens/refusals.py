"""Screens of what is refused before the first write, and of what was typed wrong."""

from __future__ import annotations

from tests.bed.scene import settings
from tests.cluster.kubelet.api import JSON
from tests.screens.objects import UNDER_WAY, immutable, web
from tests.screens.stage import Stage


def refused_conflict(stage: Stage) -> None:
    """Somebody else owns the image."""
    stage.scene.serve(web())
    stage.scene.kubectl("set", "image", "deployment/web", "web=shop/web:hotfix", check=True)
    stage.scene.objects.wait_complete("web")
    stage.apply(web(2))


def refused_scaled(stage: Stage) -> None:
    """Somebody has scaled since the last apply."""
    stage.apply(web())
    stage.scene.kubectl("scale", "deployment/web", "--replicas=5", check=True)
    stage.apply(web(2))


def refused_paused(stage: Stage) -> None:
    """The Deployment is paused."""
    stage.scene.serve(web())
    stage.scene.kubectl("rollout", "pause", "deployment/web", check=True)
    stage.apply(web(2))


def refused_being_deleted(stage: Stage) -> None:
    """The Deployment waits for a finalizer."""
    stage.scene.serve(web())
    hold = {"metadata": {"finalizers": ["example.test/hold"]}}
    stage.scene.objects.patch("deployments", "web", hold)
    stage.scene.objects.delete("deployments", "web")
    stage.apply(web(2))


def refused_irreversible(stage: Stage) -> None:
    """A ConfigMap would become immutable."""
    stage.scene.serve(web(), settings())
    stage.apply(immutable(settings("two")), web(2))


def refused_locked(stage: Stage) -> None:
    """Another run works on it."""
    stage.scene.serve(web())
    stage.file("first.yaml", web(2, behaviour="ready=200", progress_deadline_seconds=600))
    with stage.start("apply -f first.yaml") as first:
        first.wait_for_line(UNDER_WAY)
        stage.apply(web(3), flags="--lock-wait 10s")
        first.kill()


def refused_managed(stage: Stage) -> None:
    """Argo CD manages it."""
    key = "argocd.argoproj.io/tracking-id"
    stage.scene.serve(web(annotations={key: "shop:apps/Deployment:shop/web"}))
    stage.apply(web(2))


def refused_rejected(stage: Stage) -> None:
    """The API server finds the object invalid."""
    stage.scene.serve(web())
    stage.apply(web(2, strategy={"type": "Blue"}))


def refused_immutable_field(stage: Stage) -> None:
    """The selector is another one."""
    stage.scene.serve(web())
    other = web(2, template_labels={"tier": "front"})
    other["spec"]["selector"] = {"matchLabels": {"app": "web", "tier": "front"}}
    stage.apply(other)


def refused_unknown_field(stage: Stage) -> None:
    """A field is misspelt."""
    body = web()
    body["spec"]["template"]["spec"]["containers"][0]["imagePullPolcy"] = "Always"
    stage.apply(body)


def refused_recreate(stage: Stage) -> None:
    """The strategy becomes Recreate, and somebody else has set maxSurge."""
    stage.scene.serve(web())
    surge = {"spec": {"strategy": {"rollingUpdate": {"maxSurge": 2}}}}
    stage.scene.change_as("kubectl-edit", surge)
    stage.apply(web(2, strategy={"type": "Recreate"}))


def refused_forbidden(stage: Stage) -> None:
    """Rights are missing."""
    stage.scene.serve(web())
    _, (token,) = stage.users.with_rules([_READING])
    stage.file("web.yaml", web(2))
    stage.run("apply -f web.yaml", user=token)


_READING: JSON = {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"]}


def refused_namespace(stage: Stage) -> None:
    """The namespace is not there."""
    stage.apply(web(2, namespace="shopp"))


def refused_unauthorized(stage: Stage) -> None:
    """The token is not accepted."""
    stage.file("web.yaml", web())
    stage.run("apply -f web.yaml", user="an-old-token")


def refused_unreachable(stage: Stage) -> None:
    """The API server does not answer."""
    stage.is_away = lambda _: True
    stage.apply(web())


def refused_not_found(stage: Stage) -> None:
    """No Deployment has that name."""
    stage.run("verify wbe")
    stage.run("undo wbe")


def usage_manifest(stage: Stage) -> None:
    """The manifest is no YAML; a key stands twice."""
    (stage.folder / "web.yaml").write_text("kind: Deployment\n  metadata: {}\n")
    stage.run("apply -f web.yaml")
    (stage.folder / "web.yaml").write_text("kind: Deployment\nkind: Service\n")
    stage.run("apply -f web.yaml")


def usage_flags(stage: Stage) -> None:
    """Flags are wrong."""
    stage.file("web.yaml", web())
    stage.run("apply -f web.yaml --time-out 5")
    stage.run("apply -f web.yaml --timeout soon")
    stage.run("aply -f web.yaml")
    stage.run("apply -f nowhere.yaml")


def usage_kind(stage: Stage) -> None:
    """A kind that is not among the usual workloads."""
    role: JSON = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "all"},
    }
    stage.apply(role, web())
