"""Warnings about pods and their templates (`pkg/api/pod/warnings.go`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sandbox.json import JSON
from sandbox.objects.quantity import parse_quantity
from sandbox.objects.validation.errors import quote_text

OLD_VOLUMES = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
BYTES = ("memory", "ephemeral-storage")
OLD_NODE_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": (
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead'
    ),
    "failure-domain.beta.kubernetes.io/zone": (
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    ),
    "beta.kubernetes.io/instance-type": (
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
    ),
}
OLD_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
    "security.alpha.kubernetes.io/unsafe-sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
}
SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_PREFIX = "container.seccomp.security.alpha.kubernetes.io/"
APP_ARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_SAYS = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_NO_SELECTOR = "a null labelSelector results in matching no pod"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def about_pod(field: str, template: JSON) -> Iterator[str]:
    """Warn about a pod or a template, whose path is `field` (empty for a pod itself)."""
    at = f"{field}." if field else ""
    spec, annotations = template["spec"], template["metadata"].get("annotations", {})
    yield from _about_nodes(f"{at}spec", spec)
    for key, says in OLD_ANNOTATIONS.items():
        if key in annotations:
            yield f"{at}metadata.annotations[{key}]: {says}"
    yield from _about_spec(f"{at}spec", spec, annotations, f"{at}metadata.annotations")


def _about_nodes(field: str, spec: JSON) -> Iterator[str]:
    for key in sorted(spec.get("nodeSelector", {})):
        if key in OLD_NODE_LABELS:
            yield f"{field}.nodeSelector[{key}]: {OLD_NODE_LABELS[key]}"
    node = spec.get("affinity", {}).get("nodeAffinity", {})
    at = f"{field}.affinity.nodeAffinity"
    for index, term in enumerate(node.get(_REQUIRED, {}).get("nodeSelectorTerms", ())):
        yield from _about_node_term(f"{at}.{_REQUIRED}.nodeSelectorTerms[{index}]", term)
    for index, term in enumerate(node.get(_PREFERRED, ())):
        yield from _about_node_term(f"{at}.{_PREFERRED}[{index}].preference", term["preference"])


def _about_node_term(field: str, term: JSON) -> Iterator[str]:
    for index, expression in enumerate(term.get("matchExpressions", ())):
        key = expression["key"]
        if key in OLD_NODE_LABELS:
            yield f"{field}.matchExpressions[{index}].key: {key} is {OLD_NODE_LABELS[key]}"


def _about_spec(
    field: str, spec: JSON, annotations: Mapping[str, str], annotated: str
) -> Iterator[str]:
    yield from _about_spread(f"{field}.topologySpreadConstraints", spec)
    for index, volume in enumerate(spec.get("volumes", ())):
        for kind, says in OLD_VOLUMES.items():
            if kind in volume:
                yield f"{field}.volumes[{index}].{kind}: {says}"
    yield from _about_repeats(f"{field}.hostAliases", spec.get("hostAliases", ()), "ip")
    secrets = spec.get("imagePullSecrets", ())
    yield from _about_repeats(f"{field}.imagePullSecrets", secrets, "name")
    for index, secret in enumerate(secrets):
        if not secret.get("name"):
            yield f'{field}.imagePullSecrets[{index}].name: invalid empty name ""'
    if SECCOMP in annotations and "seccompProfile" not in spec["securityContext"]:
        yield f"{annotated}[{SECCOMP}]: {_SECCOMP_SAYS}"
    for at, container in _containers(field, spec):
        yield from _about_profiles(annotated, annotations, container, is_pod=field == "spec")
        yield from _about_resources(f"{at}.resources", container["resources"])
        yield from _about_env(f"{at}.env", container.get("env", ()))
    yield from _about_ports(field, spec)
    if spec["terminationGracePeriodSeconds"] < 0:
        says = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{field}.terminationGracePeriodSeconds: {says}"
    yield from _about_affinity(f"{field}.affinity", spec.get("affinity", {}))


def _about_spread(field: str, spec: JSON) -> Iterator[str]:
    for index, constraint in enumerate(spec.get("topologySpreadConstraints", ())):
        key = constraint["topologyKey"]
        if key in OLD_NODE_LABELS:
            yield f"{field}[{index}].topologyKey: {key} is {OLD_NODE_LABELS[key]}"
        if "labelSelector" not in constraint:
            yield f"{field}[{index}].labelSelector: {_NO_SELECTOR}"


def _about_profiles(
    field: str, annotations: Mapping[str, str], container: JSON, *, is_pod: bool
) -> Iterator[str]:
    """Warn about annotations that fields have replaced; of AppArmor's in templates alone."""
    context = container.get("securityContext", {})
    key = f"{SECCOMP_PREFIX}{container['name']}"
    if key in annotations and "seccompProfile" not in context:
        yield f"{field}[{key}]: {_SECCOMP_SAYS}"
    key = f"{APP_ARMOR_PREFIX}{container['name']}"
    if key in annotations and "appArmorProfile" not in context and not is_pod:
        yield f'{field}[{key}]: deprecated since v1.30; use the "appArmorProfile" field instead'


def _containers(field: str, spec: JSON) -> Iterator[tuple[str, JSON]]:
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or ()):
            yield f"{field}.{kind}[{index}]", container


def _about_repeats(field: str, items: list[JSON], key: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, item in enumerate(items):
        value = item.get(key, "")
        if value in seen:
            yield f"{field}[{index}].{key}: duplicate {key} {quote_text(value)}"
        seen.add(value)


def _about_resources(field: str, resources: JSON) -> Iterator[str]:
    for name in BYTES:
        for side in ("limits", "requests"):
            text = resources.get(side, {}).get(name)
            if text is not None and not parse_quantity(text).is_integer:
                says = f"fractional byte value {quote_text(text)} is invalid, must be an integer"
                yield f"{field}.{side}[{name}]: {says}"


def _about_env(field: str, variables: list[JSON]) -> Iterator[str]:
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name, value = variable["name"], variable.get("value", "")
        reference = f"$({name})"
        builds_on = reference in value and value != reference and "valueFrom" not in variable
        if name in seen and not builds_on:
            says = f"hides previous definition of {quote_text(name)}"
            yield f"{field}[{index}]: {says}, which may be dropped when using apply"
        seen.add(name)


def _about_ports(field: str, spec: JSON) -> Iterator[str]:
    numbers: dict[tuple[int, str], list[tuple[str, JSON]]] = {}
    names: dict[str, str] = {}
    about_names: list[str] = []
    for at, container in _containers(field, spec):
        for index, port in enumerate(container.get("ports", ())):
            place = f"{at}.ports[{index}]"
            others = numbers.setdefault((port["containerPort"], port["protocol"]), [])
            for other_place, other in others:
                yield from _about_clash(place, port, other_place, other)
            others.append((place, port))
            if not (name := port.get("name")):
                continue
            if (first := names.setdefault(name, place)) != place:
                says = f"duplicate port name {quote_text(name)} with {first}"
                tail = f"services and probes that select ports by name will use {first}"
                about_names.append(f"{place}: {says}, {tail}")
    yield from about_names


def _about_clash(place: str, port: JSON, other_place: str, other: JSON) -> Iterator[str]:
    mine, theirs = (_host(each) for each in (port, other))
    if mine == theirs:
        yield f"{place}: duplicate port definition with {other_place}"
    elif not mine[1] or not theirs[1]:
        yield f"{place}: overlapping port definition with {other_place}"
    elif mine[1] == theirs[1] and (not mine[0] or not theirs[0]):
        yield f"{place}: dangerously ambiguous port definition with {other_place}"


def _host(port: JSON) -> tuple[str, int]:
    return port.get("hostIP", ""), port.get("hostPort", 0)


def _about_affinity(field: str, affinity: JSON) -> Iterator[str]:
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind, {})
        for index, term in enumerate(terms.get(_REQUIRED, ())):
            if "labelSelector" not in term:
                yield f"{field}.{kind}.{_REQUIRED}[{index}].labelSelector: {_NO_SELECTOR}"
        for index, term in enumerate(terms.get(_PREFERRED, ())):
            if "labelSelector" not in term["podAffinityTerm"]:
                at = f"{field}.{kind}.{_PREFERRED}[{index}].podAffinityTerm.labelSelector"
                yield f"{at}: {_NO_SELECTOR}"
