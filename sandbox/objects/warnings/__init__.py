"""Warnings of a success: what is deprecated or will not do what it seems to."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.json import JSON, dig
from sandbox.kinds import Resource
from sandbox.objects.validation.names import dns_label
from sandbox.objects.warnings.pods import about_pod

POD_NAMES = "this is used in Pod names and hostnames"
NAMED_AFTER = {
    "pods": "this is used in the Pod's hostname",
    "deployments.apps": POD_NAMES,
    "replicasets.apps": POD_NAMES,
    "jobs.batch": POD_NAMES,
    "cronjobs.batch": POD_NAMES,
}
TEMPLATES = {
    "deployments.apps": "spec.template",
    "replicasets.apps": "spec.template",
    "statefulsets.apps": "spec.template",
    "daemonsets.apps": "spec.template",
    "jobs.batch": "spec.template",
    "cronjobs.batch": "spec.jobTemplate.spec.template",
}
INGRESS_CLASS = "kubernetes.io/ingress.class"


def warnings_of(resource: Resource, body: JSON, old: JSON | None = None) -> list[str]:
    """Return the texts of the `Warning` headers, in the server's order; `old` is None on a create.

    An update warns about a template only where the generation changed, and about a pod never.
    """
    if resource.key == "services":
        return [*_about_service(body["spec"])]
    if old is None:
        return [*_about_name(resource, body), *_about_content(resource, body)]
    same = old["metadata"].get("generation") == body["metadata"].get("generation")
    return [] if same or resource.key == "pods" else [*_about_content(resource, body)]


def _about_name(resource: Resource, body: JSON) -> Iterator[str]:
    said = dns_label(body["metadata"].get("name", ""))
    if said and resource.key in NAMED_AFTER:
        yield (
            f"metadata.name: {NAMED_AFTER[resource.key]}, which can result in surprising behavior;"
            f" a DNS label is recommended: [{' '.join(said)}]"
        )
    annotated = INGRESS_CLASS in body["metadata"].get("annotations", {})
    if resource.kind == "Ingress" and annotated and "ingressClassName" not in body["spec"]:
        says = "is deprecated, please use 'spec.ingressClassName' instead"
        yield f'annotation "{INGRESS_CLASS}" {says}'


def _about_content(resource: Resource, body: JSON) -> Iterator[str]:
    if resource.key == "pods":
        yield from about_pod("", body)
    elif path := TEMPLATES.get(resource.key):
        yield from about_pod(path, dig(body, *path.split(".")))
    if resource.key == "statefulsets.apps" and body["spec"]["revisionHistoryLimit"] < 0:
        yield (
            "spec.revisionHistoryLimit: a negative value retains all historical revisions;"
            " a value >= 0 is recommended"
        )


def _about_service(spec: JSON) -> Iterator[str]:
    external, headless = spec["type"] == "ExternalName", spec.get("clusterIP") == "None"
    if headless:
        for name in ("loadBalancerIP", "externalIPs"):
            if spec.get(name):
                yield f"spec.{name} is ignored for headless services"
        if spec["sessionAffinity"] != "None":
            yield "spec.SessionAffinity is ignored for headless services"
    if spec.get("externalIPs"):
        if external:
            yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
        elif not headless:
            says = "is deprecated and may no longer be implemented in some clusters"
            yield f"spec.externalIPs {says}"
    if spec.get("externalName") and not external:
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'
