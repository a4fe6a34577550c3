"""Where a pod may run: tolerations, affinity, spreading, DNS, host aliases."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    NOT_POSITIVE,
    Found,
    check_messages,
    duplicate,
    forbidden,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.names import (
    dns_label,
    dns_subdomain,
    ip_address,
    label_key,
    label_value,
)
from sandbox.objects.validation.selectors import check_selector

TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
SCHEDULE_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
LARGEST_WEIGHT = 100
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def check_tolerations(found: Found, field: str, tolerations: Sequence[JSON]) -> None:
    """Keys, operators, values and effects of tolerations."""
    for index, toleration in enumerate(tolerations):
        at = f"{field}[{index}]"
        key, operator = toleration.get("key", ""), toleration.get("operator", "")
        effect = toleration.get("effect", "")
        if key:
            check_messages(found, f"{at}.key", key, label_key(key))
        elif operator != "Exists":
            says = (
                "operator must be Exists when `key` is empty, which means"
                ' "match all values and all keys"'
            )
            found.append(invalid(f"{at}.operator", operator, says))
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            says = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            found.append(invalid(f"{at}.effect", effect, says))
        _check_value(found, f"{at}.operator", operator, toleration.get("value", ""))
        if effect and effect not in TAINT_EFFECTS:
            found.append(not_supported(f"{at}.effect", effect, TAINT_EFFECTS))


def _check_value(found: Found, field: str, operator: str, value: str) -> None:
    if operator in {"", "Equal"}:
        if messages := label_value(value):
            found.append(invalid(field, value, ";".join(messages)))
    elif operator == "Exists":
        if value:
            says = "value must be empty when `operator` is 'Exists'"
            found.append(invalid(field, value, says))
    else:
        found.append(not_supported(field, operator, ("Equal", "Exists")))


def check_affinity(found: Found, field: str, affinity: JSON) -> None:
    """Node, pod and anti-affinity, required and preferred."""
    if node := affinity.get("nodeAffinity"):
        _check_node_affinity(found, f"{field}.nodeAffinity", node)
    for kind in ("podAffinity", "podAntiAffinity"):
        if kind in affinity:
            _check_pod_affinity(found, f"{field}.{kind}", affinity[kind])


def _check_node_affinity(found: Found, field: str, node: JSON) -> None:
    if _REQUIRED in node:
        at = f"{field}.{_REQUIRED}.nodeSelectorTerms"
        terms = node[_REQUIRED]["nodeSelectorTerms"]
        if not terms:
            found.append(make_required_error(at, "must have at least one node selector term"))
        for index, term in enumerate(terms or ()):
            _check_node_term(found, f"{at}[{index}]", term, lenient=False)
    for index, term in enumerate(node.get(_PREFERRED, ())):
        at = f"{field}.{_PREFERRED}[{index}]"
        _check_weight(found, at, term["weight"])
        _check_node_term(found, f"{at}.preference", term["preference"], lenient=True)


def _check_weight(found: Found, field: str, weight: int) -> None:
    if not 0 < weight <= LARGEST_WEIGHT:
        found.append(invalid(f"{field}.weight", weight, "must be in the range 1-100"))


def _check_node_term(found: Found, field: str, term: JSON, *, lenient: bool) -> None:
    for index, requirement in enumerate(term.get("matchExpressions", ())):
        at = f"{field}.matchExpressions[{index}]"
        _check_node_operator(found, at, requirement)
        key = requirement["key"]
        check_messages(found, f"{at}.key", key, label_key(key))
        if not lenient:
            for place, value in enumerate(requirement.get("values", ())):
                check_messages(found, f"{at}.values[{place}]", value, label_value(value))
    for index, requirement in enumerate(term.get("matchFields", ())):
        _check_node_field(found, f"{field}.matchFields[{index}]", requirement)


def _check_node_operator(found: Found, field: str, requirement: JSON) -> None:
    operator, values = requirement["operator"], requirement.get("values", ())
    if operator in {"In", "NotIn"}:
        if not values:
            says = "must be specified when `operator` is 'In' or 'NotIn'"
            found.append(make_required_error(f"{field}.values", says))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            says = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            found.append(forbidden(f"{field}.values", says))
    elif operator in {"Gt", "Lt"}:
        if len(values) != 1:
            says = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            found.append(make_required_error(f"{field}.values", says))
    else:
        found.append(invalid(f"{field}.operator", operator, "not a valid selector operator"))


def _check_node_field(found: Found, field: str, requirement: JSON) -> None:
    operator, values = requirement["operator"], requirement.get("values", ())
    if operator not in {"In", "NotIn"}:
        found.append(invalid(f"{field}.operator", operator, "not a valid selector operator"))
    elif len(values) != 1:
        says = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        found.append(make_required_error(f"{field}.values", says))
    if requirement["key"] != "metadata.name":
        says = "not a valid field selector key"
        found.append(invalid(f"{field}.key", requirement["key"], says))


def _check_pod_affinity(found: Found, field: str, affinity: JSON) -> None:
    for index, term in enumerate(affinity.get(_REQUIRED, ())):
        _check_pod_term(found, f"{field}.{_REQUIRED}[{index}]", term)
    for index, weighted in enumerate(affinity.get(_PREFERRED, ())):
        at = f"{field}.{_PREFERRED}[{index}]"
        _check_weight(found, at, weighted["weight"])
        _check_pod_term(found, f"{at}.podAffinityTerm", weighted["podAffinityTerm"])


def _check_pod_term(found: Found, field: str, term: JSON) -> None:
    check_selector(found, f"{field}.labelSelector", term.get("labelSelector"))
    check_selector(found, f"{field}.namespaceSelector", term.get("namespaceSelector"))
    for name in term.get("namespaces", ()):
        check_messages(found, f"{field}.namespace", name, dns_label(name))
    key = term["topologyKey"]
    if not key:
        found.append(make_required_error(f"{field}.topologyKey", "can not be empty"))
    check_messages(found, f"{field}.topologyKey", key, label_key(key))


def check_spread(found: Found, field: str, constraints: Sequence[JSON]) -> None:
    """Topology spread constraints; no two of one topology and action."""
    for index, constraint in enumerate(constraints):
        at = f"{field}[{index}]"
        if constraint["maxSkew"] <= 0:
            found.append(invalid(f"{at}.maxSkew", constraint["maxSkew"], NOT_POSITIVE))
        key, action = constraint["topologyKey"], constraint["whenUnsatisfiable"]
        if not key:
            found.append(make_required_error(f"{at}.topologyKey", "can not be empty"))
        if action not in SCHEDULE_ACTIONS:
            found.append(not_supported(f"{at}.whenUnsatisfiable", action, SCHEDULE_ACTIONS))
        for other in constraints[index + 1 :]:
            if (other["topologyKey"], other["whenUnsatisfiable"]) == (key, action):
                place = f"{at}.{{topologyKey, whenUnsatisfiable}}"
                found.append(duplicate(place, f"{{{key}, {action}}}"))
                break
        check_selector(found, f"{at}.labelSelector", constraint.get("labelSelector"))


def check_dns(found: Found, field: str, spec: JSON) -> None:
    """The policy `None` needs a configuration with a name server."""
    config = spec.get("dnsConfig")
    if spec["dnsPolicy"] == "None" and config is None:
        found.append(
            make_required_error(field, "must provide `dnsConfig` when `dnsPolicy` is None")
        )
    elif spec["dnsPolicy"] == "None" and config is not None and not config.get("nameservers"):
        says = "must provide at least one DNS nameserver when `dnsPolicy` is None"
        found.append(make_required_error(f"{field}.nameservers", says))
    elif config:
        for index, server in enumerate(config.get("nameservers", ())):
            check_messages(found, f"{field}.nameservers[{index}]", server, ip_address(server))


def check_host_aliases(found: Found, field: str, aliases: Sequence[JSON]) -> None:
    """Addresses are IPs, host names are DNS subdomains."""
    for index, alias in enumerate(aliases):
        check_messages(found, f"{field}[{index}].ip", alias["ip"], ip_address(alias["ip"]))
        for place, name in enumerate(alias.get("hostnames", ())):
            at = f"{field}[{index}].hostnames[{place}]"
            check_messages(found, at, name, dns_subdomain(name))


def check_gates(found: Found, field: str, spec: JSON) -> None:
    """Readiness gates and scheduling gates have qualified names."""
    for index, gate in enumerate(spec.get("readinessGates", ())):
        kind = gate["conditionType"]
        at = f"{field}.readinessGates[{index}].conditionType"
        check_messages(found, at, kind, label_key(kind))
    seen: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates", ())):
        at = f"{field}.schedulingGates[{index}]"
        check_messages(found, at, gate["name"], label_key(gate["name"]))
        if gate["name"] in seen:
            found.append(duplicate(at, gate["name"]))
        seen.add(gate["name"])
