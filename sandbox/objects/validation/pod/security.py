"""Security contexts of pods and containers."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.names import user_or_group_id
from sandbox.objects.validation.pod.volumes import check_relative_path

SECCOMP_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
CHANGE_POLICIES = ("Always", "OnRootMismatch")
_GO_NAMES = {
    "capabilities": "Capabilities",
    "privileged": "Privileged",
    "seLinuxOptions": "SELinuxOptions",
    "windowsOptions": "WindowsOptions",
    "runAsUser": "RunAsUser",
    "runAsGroup": "RunAsGroup",
    "runAsNonRoot": "RunAsNonRoot",
    "readOnlyRootFilesystem": "ReadOnlyRootFilesystem",
    "allowPrivilegeEscalation": "AllowPrivilegeEscalation",
    "procMount": "ProcMount",
    "seccompProfile": "SeccompProfile",
    "appArmorProfile": "AppArmorProfile",
}


def check_pod_security(found: Found, field: str, spec: JSON) -> None:
    """The pod's own security context."""
    context = spec.get("securityContext")
    if not context:
        return
    for name in ("fsGroup", "runAsUser", "runAsGroup"):
        _check_id(found, f"{field}.{name}", context.get(name))
    for index, group in enumerate(context.get("supplementalGroups", ())):
        _check_id(found, f"{field}.supplementalGroups[{index}]", group)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        says = "ShareProcessNamespace and HostPID cannot both be enabled"
        found.append(invalid(f"{field}.shareProcessNamespace", value=True, detail=says))
    policy = context.get("fsGroupChangePolicy")
    if policy is not None and policy not in CHANGE_POLICIES:
        found.append(not_supported(f"{field}.fsGroupChangePolicy", policy, CHANGE_POLICIES))
    _check_seccomp(found, f"{field}.seccompProfile", context.get("seccompProfile"))


def check_container_security(found: Found, field: str, context: JSON | None) -> None:
    """A container's security context, where privileged ones are allowed.

    They are in clusters as people have them (`--allow-privileged`, which installers set).
    """
    if not context:
        return
    for name in ("runAsUser", "runAsGroup"):
        _check_id(found, f"{field}.{name}", context.get(name))
    _check_seccomp(found, f"{field}.seccompProfile", context.get("seccompProfile"))
    if context.get("allowPrivilegeEscalation") is False:
        _check_no_escalation(found, field, context)


def _check_no_escalation(found: Found, field: str, context: JSON) -> None:
    says = "cannot set `allowPrivilegeEscalation` to false and"
    told = {name: context.get(key) for key, name in _GO_NAMES.items()}
    if context.get("privileged"):
        found.append(invalid(field, told, f"{says} `privileged` to true"))
    if "CAP_SYS_ADMIN" in context.get("capabilities", {}).get("add", ()):
        capabilities = context["capabilities"]
        told["Capabilities"] = {"Add": capabilities["add"], "Drop": capabilities.get("drop")}
        found.append(invalid(field, told, f"{says} `capabilities.Add` CAP_SYS_ADMIN"))


def _check_id(found: Found, field: str, value: int | None) -> None:
    if value is not None:
        for message in user_or_group_id(value):
            found.append(invalid(field, value, message))


def _check_seccomp(found: Found, field: str, profile: JSON | None) -> None:
    if profile is None:
        return
    kind, path = profile["type"], profile.get("localhostProfile")
    at = f"{field}.localhostProfile"
    if kind not in SECCOMP_TYPES:
        found.append(not_supported(f"{field}.type", kind, SECCOMP_TYPES))
    if kind == "Localhost":
        if path is None:
            found.append(make_required_error(at, "must be set when seccomp type is Localhost"))
        else:
            check_relative_path(found, at, path)
    elif path is not None:
        told = {"Type": kind, "LocalhostProfile": path}
        found.append(invalid(at, told, "can only be set when seccomp type is Localhost"))
