"""Masks what may be secret in objects that leave the process, as in a recording.

The rule says what is kept, not what is masked, so that a field that nobody thought of never leaks.
It keeps names, images, states, times and numbers where the API defines them; labels and quantities;
and the messages of conditions, events and containers, which people need (cleaned). Everything else
becomes an HMAC, so that equal values stay equal and different ones different: env values, commands
and arguments, headers, annotations, and all of Secrets, ConfigMaps and kinds not named here. Of
health checks everything is kept except the arguments of commands, and the query and fragment of a
URL. In everything that is kept, a value that is known to be secret becomes an HMAC as well.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
from collections.abc import Mapping
from typing import Any, Final

from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.rollout.observations import Kind
from gate.core.ssa.managed_fields import owned_fields
from gate.wire.kinds import registry
from gate.wire.secret_values import SecretValues
from gate.wire.untrusted import clean

_KNOWN_KINDS: Final = {*registry.WATCHED, "Status"}
_ENTERED: Final = frozenset(
    """
    metadata ownerReferences spec selector template status conditions
    containers initContainers ephemeralContainers ports resources volumeMounts volumes tolerations
    env envFrom valueFrom fieldRef secretKeyRef configMapKeyRef configMapRef secretRef
    readinessProbe livenessProbe startupProbe httpGet tcpSocket grpc imagePullSecrets
    containerStatuses initContainerStatuses ephemeralContainerStatuses
    state lastState waiting running terminated involvedObject source series details causes
    """.split()  # noqa: SIM905 - one name a line would say no more on five times the space
).union(*(one.recorded.entered for one in registry.WATCHED.values()))
"""Fields whose contents the API defines; in any other map the keys may be anything."""
_KEPT: Final = frozenset(
    """
    apiVersion kind name generateName namespace uid resourceVersion
    creationTimestamp deletionTimestamp startTime startedAt finishedAt eventTime lastProbeTime
    firstTimestamp lastTimestamp lastObservedTime lastTransitionTime lastUpdateTime
    image imageID imagePullPolicy restartPolicy
    phase type status reason message qosClass action component reportingComponent field fieldPath
    protocol scheme port key operator effect dnsPolicy schedulerName preemptionPolicy
    terminationMessagePath terminationMessagePolicy
    """.split()  # noqa: SIM905
).union(*(one.recorded.kept for one in registry.WATCHED.values()))
_KEPT_MAPS: Final = frozenset(
    {"labels", "matchLabels", "nodeSelector", "limits", "requests"}
).union(*(one.recorded.maps for one in registry.WATCHED.values()))
_LEFT_OUT: Final = {kind: one.recorded.left_out for kind, one in registry.WATCHED.items()}
_KEPT_ANNOTATIONS: Final = {"kubectl.kubernetes.io/restartedAt"}.union(
    *(one.recorded.annotations for one in registry.WATCHED.values())
)
_URL: Final = re.compile(r"([^?#]*[?#]?)(.*)", re.DOTALL)
MASKED: Final = "masked:"
"""The prefix of what replaces a masked text."""
_KEY_BYTES: Final = 32
_SHOWN_DIGITS: Final = 16


def _without_unread(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object without what recordings leave out of its status."""
    left_out = _LEFT_OUT.get(Kind(value.get("kind") or ""))
    status = value.get("status")
    if not left_out or not isinstance(status, Mapping):
        return value
    return {**value, "status": {k: v for k, v in status.items() if k not in left_out}}


class Masker:
    """Masks objects under one random key, which is never written anywhere and lost with it."""

    def __init__(self, known: SecretValues | None = None) -> None:
        """Also mask what is `known` to be secret within what is kept."""
        self._key = secrets.token_bytes(_KEY_BYTES)
        self._known = known or SecretValues()

    def line(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an already masked object with values that are known to be secret masked, too."""
        masked: Mapping[str, Any] = self._known.mask_value(value, self.text)
        return masked

    def text(self, value: str) -> str:
        """Return what replaces a text; an empty text stays empty."""
        if not value:
            return value
        mac = hmac.digest(self._key, value.encode("utf-8", "surrogatepass"), "sha256")
        return f"{MASKED}{mac.hex()[:_SHOWN_DIGITS]}"

    def mask_object(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Mask one object in its JSON form.

        Of its managed fields the gate's own stay, as `owned_fields` gives them: keys and set items
        in them are masked like the values that they select.
        """
        known = value.get("kind") in _KNOWN_KINDS
        kept = {"apiVersion", "kind", "metadata"}
        object_ = {
            name: self._part(part, name, known=known or name in kept)
            for name, part in _without_unread(value).items()
        }
        meta = value.get("metadata")
        if isinstance(meta, Mapping) and "managedFields" in meta:
            object_["metadata"].pop("managedFields")
            self._keep_owned(object_, meta["managedFields"], known=known)
        return object_

    def policy(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Mask a policy in the form of a configuration file: what its checks run and ask for."""
        checks = [self._check(each) for each in document.get("checks", ())]
        return {**document, **({"checks": checks} if checks else {})}

    def _check(self, document: Mapping[str, Any]) -> dict[str, Any]:
        match document:
            case {"command": [program, *arguments]}:
                return {**document, "command": [program, *map(self.text, arguments)]}
            case {"http": {"url": str(url), **others}}:
                return {**document, "http": {"url": self._url(url), **others}}
            case _:
                return dict(document)

    def _url(self, url: str) -> str:
        return _URL.sub(lambda parts: f"{parts[1]}{self.text(parts[2])}", url, count=1)

    def _keep_owned(self, object_: dict[str, Any], managed_fields: Any, *, known: bool) -> None:
        owned = owned_fields(managed_fields or ())
        if owned is not None:
            fields = {
                key: self._fields(inner, key[2:], known=known or key == "f:metadata")
                for key, inner in owned.items()
            }
            entry = {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsType": "FieldsV1"}
            version = {"apiVersion": object_.get("apiVersion"), "fieldsV1": fields}
            object_["metadata"]["managedFields"] = [{**entry, **version}]

    def _part(self, value: Any, name: str, *, known: bool) -> Any:
        """Mask the value under `name`; `known` is whether the API defines what that name means."""
        if known and name in _KEPT_MAPS:
            return value
        inside = known and name in _ENTERED
        if isinstance(value, Mapping):
            if known and name == "annotations":
                return {key: self._annotation(key, text) for key, text in value.items()}
            return {key: self._part(inner, key, known=inside) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._part(item, name, known=inside) for item in value]
        return self._scalar(value, name, known=known)

    def _scalar(self, value: Any, name: str, *, known: bool) -> Any:
        if isinstance(value, str):
            return clean(value) if known and name in _KEPT else self.text(value)
        is_plain = known or value is None or isinstance(value, bool)
        return value if is_plain else self.text(str(value))

    def _annotation(self, name: str, value: Any) -> Any:
        return value if name in _KEPT_ANNOTATIONS else self._part(value, name, known=False)

    def _fields(self, fields: Mapping[str, Any], name: str, *, known: bool) -> dict[str, Any]:
        """Mask the keys of the tree of fields under `name`, as `_part` masks the values."""
        masked: dict[str, Any] = {}
        inside = known and name in _ENTERED
        for key, inner in fields.items():
            if key.startswith("f:"):
                masked[key] = self._fields(inner, key[2:], known=inside)
            else:
                masked[self._item(key, name, known=inside)] = self._fields(inner, name, known=known)
        return masked

    def _item(self, key: str, name: str, *, known: bool) -> str:
        kind, text = key[:2], key[2:]
        if kind == "k:":
            keys = json.loads(text).items()
            return kind + _compact({k: self._part(v, k, known=known) for k, v in keys})
        if kind == "v:":
            return kind + _compact(self._part(json.loads(text), name, known=known))
        return key


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
