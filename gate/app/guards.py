"""What refuses an attempt before its first write; each guard raises RefusedError or is silent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gate.app.applying import Prepared
from gate.app.management import signs_of_management
from gate.core.events import LiveObject
from gate.core.outcome import Reason
from gate.errors import RefusedError
from gate.kube.failures import FieldConflict


def refuse_managed(lives: Iterable[LiveObject]) -> None:
    """Refuse Deployments that Helm, Argo CD or Flux would put back."""
    for live in lives:
        signs = signs_of_management(live)
        if signs:
            raise RefusedError(
                f"{live.ref} is managed by something else ({'; '.join(signs)})",
                reason=Reason.GITOPS_MANAGED,
                hint=f"let it roll out and judge it: rollout-gate verify {live.ref.name} "
                f"-n {live.ref.namespace}; or apply all the same with --allow-managed",
            )


def refuse_paused(lives: Iterable[LiveObject]) -> None:
    """Refuse paused Deployments: no rollout would ever start."""
    for live in lives:
        if live.deployment is not None and live.deployment.paused:
            raise RefusedError(
                f"{live.ref} is paused",
                reason=Reason.PAUSED,
                hint="somebody paused it for a reason; go on with --resume",
            )


def refuse_empty(prepared: Iterable[Prepared]) -> None:
    """Refuse Deployments of no pods, which prove nothing (`--require-pods`)."""
    for item in prepared:
        if item.ref.kind == "Deployment" and item.sent_body().get("spec", {}).get("replicas") == 0:
            raise RefusedError(
                f"{item.ref} has replicas: 0, so that no pod would prove it",
                reason=Reason.VACUOUS,
                hint="leave out --require-pods to apply it all the same",
            )


def refuse_protected(namespaces: Iterable[str], protected: Sequence[str]) -> None:
    """Refuse namespaces that `--protected-namespace` names."""
    for namespace in namespaces:
        if namespace in protected:
            raise RefusedError(
                f"namespace {namespace} is protected", reason=Reason.PROTECTED, hint=""
            )


def conflict_refusal(item: Prepared, conflicts: Sequence[FieldConflict]) -> RefusedError:
    """Return the refusal of fields that other managers own, with the flags that settle it."""
    managers = sorted({conflict.manager for conflict in conflicts})
    fields = ", ".join(f"{conflict.path} ({conflict.manager})" for conflict in conflicts)
    flags = " ".join(f"--take-over {_quoted(manager)}" for manager in managers)
    return RefusedError(
        f"{item.ref}: others own fields of the manifest: {fields}",
        reason=Reason.CONFLICT,
        hint=f"make them ours: {flags}; or write over them this once: --force-conflicts",
    )


def _quoted(manager: str) -> str:
    return manager if manager.replace("-", "").replace("_", "").isalnum() else f"'{manager}'"
