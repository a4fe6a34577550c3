"""Masks what may be secret in objects that leave the process, as in a recording.

A rule of what is kept, not of what is masked: a field that nobody thought of never leaks. Kept
are names, numbers, times, states and images by the names of their fields, labels, quantities, and
the messages of conditions, events and containers, which people need to see (cleaned). All other
text, so env values, commands and their arguments, headers, annotations and whatever a Secret, a
ConfigMap or a kind not listed here holds, becomes an HMAC: equal stays equal, different different.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Any, Final

from gate.core.effects import FIELD_MANAGER
from gate.core.ownership import owned_fields
from gate.wire.untrusted import clean

_KNOWN_KINDS: Final = {"Deployment", "ReplicaSet", "Pod", "Event", "Status"}
_IDENTITY: Final = {"apiVersion", "kind"}
_KEPT: Final = frozenset(
    """
    apiVersion kind name generateName namespace uid resourceVersion manager operation fieldsType
    creationTimestamp deletionTimestamp startTime startedAt finishedAt time eventTime lastProbeTime
    firstTimestamp lastTimestamp lastObservedTime lastTransitionTime lastUpdateTime
    image imageID imagePullPolicy restartPolicy maxSurge maxUnavailable
    phase type status reason message qosClass
    action component reportingComponent fieldPath
    protocol scheme port containerPort key operator effect topologyKey whenUnsatisfiable
    dnsPolicy schedulerName serviceAccountName priorityClassName preemptionPolicy
    terminationMessagePath terminationMessagePolicy
    """.split()  # noqa: SIM905 - one name a line would say no more on five times the space
)
_KEPT_MAPS: Final = {"labels", "matchLabels", "nodeSelector", "limits", "requests"}
_KEPT_ANNOTATIONS: Final = {
    "deployment.kubernetes.io/revision",
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "kubectl.kubernetes.io/restartedAt",
}
_KEY_BYTES: Final = 32
_SHOWN_DIGITS: Final = 16


class Masker:
    """Masks objects under one random key, which is gone with it and never written anywhere."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(_KEY_BYTES)

    def text(self, value: str) -> str:
        """Return what stands for a text; nothing stands for nothing."""
        if not value:
            return value
        mac = hmac.digest(self._key, value.encode("utf-8", "surrogatepass"), "sha256")
        return f"masked:{mac.hex()[:_SHOWN_DIGITS]}"

    def masked(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Mask one object in its JSON form.

        Of its managed fields the gate's own stay, as `owned_fields` gives them: keys and set
        items in them are masked as the values that they select.
        """
        known = value.get("kind") in _KNOWN_KINDS
        masked = {
            name: self._part(part, name) if known or name in _IDENTITY else self._whole(part)
            for name, part in value.items()
            if name != "metadata"
        }
        if isinstance(value.get("metadata"), Mapping):
            masked["metadata"] = self._metadata(value["metadata"], value.get("apiVersion"))
        return masked

    def _metadata(self, meta: Mapping[str, Any], api_version: object) -> dict[str, Any]:
        kept = {name: self._part(v, name) for name, v in meta.items() if name != "managedFields"}
        owned = owned_fields(meta.get("managedFields") or ())
        if owned is not None:
            entry = {"manager": FIELD_MANAGER, "operation": "Apply", "apiVersion": api_version}
            fields = self._fields(owned, "")
            kept["managedFields"] = [{**entry, "fieldsType": "FieldsV1", "fieldsV1": fields}]
        return kept

    def _part(self, value: Any, name: str) -> Any:
        """Mask what stands under `name` in an object of a known kind."""
        if name in _KEPT_MAPS:
            return value
        if isinstance(value, Mapping):
            if name == "annotations":
                return {key: self._annotation(key, text) for key, text in value.items()}
            return {key: self._part(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._part(item, name) for item in value]
        if isinstance(value, str):
            return clean(value) if name in _KEPT else self.text(value)
        return value

    def _annotation(self, name: str, value: Any) -> Any:
        return value if name in _KEPT_ANNOTATIONS else self._whole(value)

    def _whole(self, value: Any) -> Any:
        """Mask all of a value, numbers too."""
        if isinstance(value, Mapping):
            return {key: self._whole(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._whole(item) for item in value]
        return value if value is None or isinstance(value, bool) else self.text(str(value))

    def _fields(self, fields: Mapping[str, Any], name: str) -> dict[str, Any]:
        return {
            self._step(key, name): self._fields(inner, key[2:] if key.startswith("f:") else name)
            for key, inner in fields.items()
        }

    def _step(self, key: str, name: str) -> str:
        """Mask the values in one key of a tree of fields that stands under `name`."""
        kind, text = key[:2], key[2:]
        if kind == "k:":
            return kind + _compact({k: self._part(v, k) for k, v in json.loads(text).items()})
        return kind + _compact(self._part(json.loads(text), name)) if kind == "v:" else key


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
