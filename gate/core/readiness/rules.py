"""From an object's body to its readiness, in the words of its own conditions.

Any kind follows the rules of kstatus (cli-utils, `pkg/kstatus/status/generic.go`): a status of an
older generation says nothing, `Reconciling` and a `Ready` that is not True are on the way,
`Stalled` has failed. An object without such conditions has nothing that could be waited for.
Built-in kinds that say it otherwise have a rule of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gate.core.model.objects import CleanText, Ref
from gate.core.model.readiness import UNJUDGED, Readiness, ReadinessKind

Rule = Callable[[Mapping[str, Any]], Readiness]

READY: Final = Readiness(ReadinessKind.READY)
_INJECTED: Final = (
    "cert-manager.io/inject-ca-from",
    "cert-manager.io/inject-ca-from-secret",
    "cert-manager.io/inject-apiserver-ca",
)
"""Annotations by which cert-manager's injector is to fill in `caBundle`."""


def readiness_of(body: Mapping[str, Any]) -> Readiness:
    """Return the readiness of an object as the server returned it; never raises for its shape.

    Its words are as external as the object: whoever shows them has to clean them.
    """
    metadata, status = _map(body, "metadata"), _map(body, "status")
    if metadata.get("deletionTimestamp"):
        return Readiness(ReadinessKind.UNJUDGED, CleanText("it is being deleted"))
    observed = status.get("observedGeneration")
    if isinstance(observed, int) and observed < _number(metadata, "generation"):
        return _not_yet("its controller has not observed the latest change")
    group = str(body.get("apiVersion")).rpartition("/")[0]
    return _RULES.get((group, str(body.get("kind"))), _by_conditions)(body)


# -- any kind --------------------------------------------------------------------------------------


def _by_conditions(body: Mapping[str, Any]) -> Readiness:
    """Judge by the standard conditions; one of an older generation is on the way."""
    generation = _number(_map(body, "metadata"), "generation")
    conditions = {one["type"]: one for one in _conditions(body)}
    stalled, ready = conditions.get("Stalled"), conditions.get("Ready")
    if stalled is not None and stalled.get("status") == "True":
        return Readiness(ReadinessKind.FAILED, describe(stalled))
    reconciling = conditions.get("Reconciling")
    if reconciling is not None and reconciling.get("status") == "True":
        return Readiness(ReadinessKind.NOT_YET, describe(reconciling))
    if ready is None:
        return UNJUDGED
    observed = ready.get("observedGeneration")
    if isinstance(observed, int) and observed < generation:
        return _not_yet("its condition Ready is about an earlier generation")
    if ready.get("status") == "True":
        return READY
    return Readiness(ReadinessKind.NOT_YET, describe(ready))


def describe(condition: Mapping[str, Any]) -> CleanText:
    """Return a condition in one line, as in `Ready is False: NoSecret: secret "a" not found`."""
    says = (condition.get("reason"), condition.get("message"))
    words = [str(one) for one in says if one]
    return CleanText(": ".join([f"{condition['type']} is {condition.get('status')}", *words]))


# -- kinds that say it otherwise -------------------------------------------------------------------


def _definition(body: Mapping[str, Any]) -> Readiness:
    """A CustomResourceDefinition is served once it is Established.

    Names that another one has are refused for as long as that one exists (naming controller).
    """
    conditions = {one["type"]: one for one in _conditions(body)}
    named, established = conditions.get("NamesAccepted"), conditions.get("Established")
    if named is not None and named.get("status") == "False":
        return Readiness(ReadinessKind.FAILED, describe(named))
    if established is None:
        return _not_yet("it is not established yet")
    if established.get("status") == "True":
        return READY
    return Readiness(ReadinessKind.NOT_YET, describe(established))


def _api_service(body: Mapping[str, Any]) -> Readiness:
    """An APIService is served once its backend answers (kube-aggregator, available controller)."""
    for one in _conditions(body):
        if one["type"] == "Available":
            is_ready = one.get("status") == "True"
            return READY if is_ready else Readiness(ReadinessKind.NOT_YET, describe(one))
    return _not_yet("it is not available yet")


def _namespace(body: Mapping[str, Any]) -> Readiness:
    phase = _map(body, "status").get("phase")
    return READY if phase == "Active" else _not_yet(f"its phase is {phase}")


def _claim(body: Mapping[str, Any]) -> Readiness:
    """A PersistentVolumeClaim is to be Bound; one whose volume is Lost never is again (v1)."""
    phase = _map(body, "status").get("phase")
    if phase == "Bound":
        return READY
    why = CleanText(f"its phase is {phase}")
    kind = ReadinessKind.FAILED if phase == "Lost" else ReadinessKind.NOT_YET
    return Readiness(kind, why)


def _service(body: Mapping[str, Any]) -> Readiness:
    """A load balancer is to have an address; no other Service has a status."""
    if _map(body, "spec").get("type") != "LoadBalancer":
        return UNJUDGED
    return READY if _addresses(body) else _not_yet("its load balancer has no address yet")


def _ingress(body: Mapping[str, Any]) -> Readiness:
    """An Ingress with an address is served; without one nobody knows.

    Many controllers publish none, so that to wait for it would fail what works.
    """
    return READY if _addresses(body) else UNJUDGED


def _pod(body: Mapping[str, Any]) -> Readiness:
    """A Pod that ends is judged by how it ended (v1, PodPhase), any other by its condition."""
    status = _map(body, "status")
    match status.get("phase"):
        case "Succeeded":
            return READY
        case "Failed":
            words = ("its phase is Failed", status.get("reason"), status.get("message"))
            return Readiness(
                ReadinessKind.FAILED, CleanText(": ".join(map(str, filter(None, words))))
            )
        case phase:
            found = _by_conditions(body)
            return _not_yet(f"its phase is {phase}") if found is UNJUDGED else found


def _webhooks(body: Mapping[str, Any]) -> Readiness:
    """A webhook whose certificate an injector is to fill in fails each call before that."""
    annotations = _map(_map(body, "metadata"), "annotations")
    if not any(name in annotations for name in _INJECTED):
        return UNJUDGED
    webhooks = [one for one in _list(body, "webhooks") if isinstance(one, Mapping)]
    bare = [one for one in webhooks if not _map(one, "clientConfig").get("caBundle")]
    return _not_yet(f"webhook {bare[0].get('name')} has no caBundle yet") if bare else READY


_ADMISSION: Final = "admissionregistration.k8s.io"
_RULES: Final[Mapping[tuple[str, str], Rule]] = {
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _definition,
    ("apiregistration.k8s.io", "APIService"): _api_service,
    ("", "Namespace"): _namespace,
    ("", "PersistentVolumeClaim"): _claim,
    ("", "Pod"): _pod,
    ("", "Service"): _service,
    ("networking.k8s.io", "Ingress"): _ingress,
    (_ADMISSION, "MutatingWebhookConfiguration"): _webhooks,
    (_ADMISSION, "ValidatingWebhookConfiguration"): _webhooks,
}


_BUILT_IN: Final = frozenset(
    (
        "",
        "apps",
        "autoscaling",
        "batch",
        "policy",
        *(
            f"{name}.k8s.io"
            for name in (
                "admissionregistration",
                "apiextensions",
                "apiregistration",
                "coordination",
                "discovery",
                "events",
                "flowcontrol.apiserver",
                "networking",
                "node",
                "rbac.authorization",
                "resource",
                "scheduling",
                "storage",
            )
        ),
    )
)
"""The groups of Kubernetes itself: of their kinds it is known here which have a status to wait for.
"""


def may_change(ref: Ref) -> bool:
    """Tell whether an object may get a status that says more than the answer to a write of it.

    A controller has not seen it then: of a custom kind nobody knows whether one will write a
    status, and an Ingress gets an address later, or never.
    """
    group = ref.api_version.rpartition("/")[0]
    return group not in _BUILT_IN or (group, ref.kind) == ("networking.k8s.io", "Ingress")


# -- parts of a body -------------------------------------------------------------------------------


def _conditions(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for one in _list(_map(body, "status"), "conditions"):
        if isinstance(one, Mapping) and isinstance(one.get("type"), str):
            yield one


def _addresses(body: Mapping[str, Any]) -> bool:
    return bool(_list(_map(_map(body, "status"), "loadBalancer"), "ingress"))


def _not_yet(why: str) -> Readiness:
    return Readiness(ReadinessKind.NOT_YET, CleanText(why))


def _map(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def _list(value: Mapping[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return found if isinstance(found, list) else []


def _number(value: Mapping[str, Any], key: str) -> int:
    found = value.get(key)
    return found if isinstance(found, int) else 0
