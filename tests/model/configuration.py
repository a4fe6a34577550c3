"""The model's ConfigMap beside the Deployment: one key of ours, one that others change too.

A value, as the cluster is; each rule returns the next one. Absent keys are "".
"""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from typing import Final, NamedTuple

from gate.core.model.body import Body
from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan.plan import PlannedObject, PlannedWrite
from gate.core.protocol.effects import Write
from gate.core.protocol.events import AttemptEvent, WriteConflicted, WriteRejected, Written
from gate.wire import decode
from tests.model.cluster import GATE, OTHER
from tests.model.shown import JSON, MANAGERS, NAMESPACE, TIME

SETTINGS: Final = Ref("v1", "ConfigMap", NAMESPACE, "settings")
UID: Final = "settings-1"
THEIRS: Final = "theirs"
KEYS: Final = ("mode", "level")


class Key(NamedTuple):
    """A key's value, and who owns it; "" is that there is none."""

    value: str = ""
    by: int = 0


class Settings(NamedTuple):
    """The ConfigMap: `mode` is ours alone, `level` may be changed by others at any time."""

    mode: Key
    level: Key
    version: int = 10


def served(image: str) -> Settings:
    """Return the configuration of a version, as the gate applied it."""
    return Settings(Key(image, GATE), Key(image, GATE))


def values(settings: Settings | None) -> tuple[str, ...]:
    """Return the values of the keys, none where there is no ConfigMap."""
    return () if settings is None else (settings.mode.value, settings.level.value)


def meddled(settings: Settings, value: str) -> Settings:
    """Let somebody else set the shared key, or remove it by ""."""
    return _stored(settings, settings._replace(level=Key(value, OTHER if value else 0)))


def _stored(before: Settings, after: Settings) -> Settings:
    return after if after == before else after._replace(version=before.version + 1)


# -- what the server does --------------------------------------------------------------------------


def done(settings: Settings, write: Write) -> tuple[Settings, AttemptEvent]:
    """Return the ConfigMap after a write, and the answer to it."""
    effect_id = write.effect_id
    assert write.verb is Verb.APPLY, "nothing else is planned for a ConfigMap"
    if write.uid != UID or write.resource_version != str(settings.version):
        return settings, WriteConflicted(0.0, effect_id)
    wanted = _wanted(write.body)
    lost = tuple(name for name in KEYS if _is_lost(getattr(settings, name), wanted.get(name)))
    if lost:
        paths = tuple(f".data.{name}" for name in lost)
        text = CleanText("conflicts")
        return settings, WriteRejected(0.0, effect_id, Reason.CONFLICT, text, paths)
    mode, level = (_applied(getattr(settings, name), wanted.get(name)) for name in KEYS)
    after = _stored(settings, settings._replace(mode=mode, level=level))
    return after, Written(0.0, effect_id, live(after))


def _is_lost(key: Key, wanted: str | None) -> bool:
    return wanted is not None and bool(key.by & ~GATE) and wanted != key.value


def _applied(key: Key, wanted: str | None) -> Key:
    """Set a key, or give it up: what nobody else owns goes then."""
    if wanted is not None:
        return Key(wanted, key.by | GATE)
    left = key.by & ~GATE
    return Key(key.value, left) if left or not key.by else Key()


@functools.lru_cache(maxsize=64)
def _wanted(body: Body) -> dict[str, str]:
    data: dict[str, str] = body.thaw().get("data", {})
    return data


# -- what it shows ---------------------------------------------------------------------------------


def manifest(image: str) -> JSON:
    """Return what the gate applies with a version."""
    metadata = {"name": SETTINGS.name, "namespace": NAMESPACE}
    data = dict.fromkeys(KEYS, image)
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


@functools.lru_cache(maxsize=1 << 10)
def live(settings: Settings) -> LiveObject:
    """Return the ConfigMap as a read returns it."""
    version = str(settings.version)
    return replace(_shape(settings._replace(version=0)), resource_version=version)


@functools.lru_cache(maxsize=1 << 10)
def _shape(settings: Settings) -> LiveObject:
    metadata = {
        "name": SETTINGS.name,
        "namespace": NAMESPACE,
        "uid": UID,
        "resourceVersion": "0",
        "managedFields": _managed(settings),
    }
    keys = {name: getattr(settings, name).value for name in KEYS}
    data = {name: value for name, value in keys.items() if value}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    return decode.live_object(json.dumps(body).encode())


def _managed(settings: Settings) -> list[JSON]:
    entries = []
    for owner, (manager, operation) in MANAGERS.items():
        owned = [name for name in KEYS if getattr(settings, name).by & owner]
        if owned:
            fields: JSON = {"f:data": {f"f:{name}": {} for name in owned}}
            entries.append(
                {
                    "manager": manager,
                    "operation": operation,
                    "apiVersion": "v1",
                    "time": TIME,
                    "fieldsType": "FieldsV1",
                    "fieldsV1": fields,
                }
            )
    return entries


# -- what an attempt plans -------------------------------------------------------------------------


def planned(settings: Settings, image: str) -> tuple[PlannedObject, PlannedWrite] | None:
    """Return the object and the write of a plan, None where the preflight meets a conflict."""
    body = Body.of(manifest(image))
    write = Write(0, SETTINGS, Verb.APPLY, body, UID, str(settings.version))
    after, answer = done(settings, write)
    if not isinstance(answer, Written):
        return None
    planned_object = PlannedObject(SETTINGS, Known(live(settings)), live(after))
    return planned_object, PlannedWrite(SETTINGS, Verb.APPLY, body)
