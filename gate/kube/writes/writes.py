"""Writes: one effect, one request, one answer; what may have been done is never sent again.

Every write to an existing object carries its uid and resourceVersion. Measured on Kubernetes 1.36:
a server-side apply with a resourceVersion alone recreates a deleted object (201), with a uid the
answer is 409; for another uid under the same name it is 422, or 409 if the resourceVersion differs
too. So an apply that should create carries a resourceVersion that no object ever has: the answer is
201, or 409 if somebody else has created the object meanwhile, and it never merges into what it did
not know (ConfigMap, Secret, Service, Namespace, Deployment, CustomResourceDefinition and a custom
resource).
"""

from __future__ import annotations

import math
from typing import Any, Final

from gate.clock import Clock
from gate.core.frozen import dataclass
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.protocol.effects import Write
from gate.core.protocol.events import WriteConflicted, WriteRejected, WriteUncertain, Written
from gate.kube.answers.failures import (
    ApiError,
    BadAnswer,
    FieldManagerConflict,
    NotFound,
    NotServed,
    ResourceVersionConflict,
)
from gate.kube.client import client as http
from gate.kube.client.client import Client, Query
from gate.kube.client.repetition import backoff_seconds
from gate.kube.paths.resources import Resources
from gate.wire import decode

WriteAnswer = Written | WriteConflicted | WriteRejected | WriteUncertain
Done = tuple[LiveObject | None, bool]
"""What a write left, None after a delete, and whether it created the object."""

_CREATED: Final = 201
_NO_VERSION: Final = "1"
"""The revision of an empty etcd: the first object that is stored has a later one."""
_MOST_CONFLICTS: Final = 5
"""After how many conflicts over one version of an object the next one is a refusal."""
_BUSY_SECONDS: Final = 1.0
"""The longest pause before a try of an object that others change before each try.

A controller's status writes come in bursts; the way back is not to wait long behind one.
"""


@dataclass(frozen=True, slots=True)
class _Conflicts:
    """How many writes of an object ended in a conflict, one after another.

    `of_version` is how many of these since it was read in this version; None is that of no object.
    """

    version: str | None
    of_version: int
    in_a_row: int


class Writer:
    """Executes writes."""

    def __init__(self, client: Client, resources: Resources, clock: Clock) -> None:
        """Share the client's connections."""
        self._client = client
        self._resources = resources
        self._clock = clock
        self._has_written = False
        self._uncertain_tries: dict[Ref, int] = {}
        self._conflicts: dict[Ref, _Conflicts] = {}

    def perform(self, effect: Write) -> WriteAnswer:
        """Send the write and say what became of it; never raises for an answer of the server.

        A refused first write stays refused: nothing has changed yet. Later ones are sent again for
        a while, since a half-done attempt is worse than a late one.
        """
        try:
            live, is_created = self._send(effect)
        except ApiError as error:
            if error.transient or not error.untouched:
                return self._answer_uncertain(effect, error)
            self._uncertain_tries.pop(effect.ref, None)
            return self._answer_refusal(effect, error)
        self._uncertain_tries.pop(effect.ref, None)
        self._conflicts.pop(effect.ref, None)
        self._has_written = True
        return Written(self._clock.now(), effect.effect_id, live, is_created)

    def dry_run(self, write: Write) -> LiveObject:
        """Apply without persisting (`dryRun=All`): what the server would make of the body.

        The effect's id is ignored. Raises leaves of ApiError, FieldManagerConflict and Invalid
        among them.
        """
        live, _ = self._apply(write, _with_preconditions(write), (http.DRY_RUN,))
        return live

    def _send(self, effect: Write) -> Done:
        match effect.verb:
            case Verb.APPLY:
                return self._apply(effect, _only_new(effect))
            case Verb.TAKE_OVER:
                return self._take_over(effect)
            case Verb.MERGE:
                return self._merge(effect)
            case Verb.DELETE:
                self._delete(effect)
                return None, False

    def _apply(
        self, write: Write, body: dict[str, Any], extra: Query = ()
    ) -> tuple[LiveObject, bool]:
        query = (
            ("fieldManager", write.field_manager),
            ("force", "true" if write.force else "false"),
            ("fieldValidation", "Strict"),
            *extra,
        )
        return self._patch(write.ref, body, query, http.APPLY_PATCH)

    def _merge(self, write: Write) -> tuple[LiveObject, bool]:
        query = (("fieldManager", write.field_manager), ("fieldValidation", "Strict"))
        return self._patch(write.ref, _with_preconditions(write), query, http.MERGE_PATCH)

    def _take_over(self, write: Write) -> tuple[LiveObject, bool]:
        """Replace the managed fields, as `kubectl apply --server-side` takes over its own.

        A uid or resourceVersion that differs is refused: the one is immutable, the other is the
        precondition of every update.
        """
        managed = write.body.thaw()["managedFields"]
        operations = [_replace("managedFields", managed)]
        if write.resource_version is not None:
            operations.append(_replace("resourceVersion", write.resource_version))
        if write.uid is not None:
            operations.append(_replace("uid", write.uid))
        query = (("fieldManager", write.field_manager),)
        return self._patch(write.ref, operations, query, http.JSON_PATCH)

    def _delete(self, write: Write) -> None:
        """Delete with preconditions (meta/v1 DeleteOptions); what is gone counts as deleted."""
        given = {"uid": write.uid, "resourceVersion": write.resource_version}
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {key: value for key, value in given.items() if value is not None},
            "propagationPolicy": "Background",
        }
        try:
            path = self._resources.path(write.ref)
            self._client.write("DELETE", path, options, insists=self._has_written)
        except NotServed:
            raise
        except NotFound:
            return

    def _patch(
        self, ref: Ref, body: Any, query: Query, content_type: str
    ) -> tuple[LiveObject, bool]:
        path = self._resources.path(ref)
        reply = self._client.write(
            "PATCH", path, body, query, content_type, insists=self._has_written
        )
        try:
            return decode.live_object(reply.body), reply.status == _CREATED
        except decode.DecodeError as error:
            raise BadAnswer(f"the answer to a write cannot be read: {error}") from error

    def _answer_uncertain(self, effect: Write, error: ApiError) -> WriteUncertain:
        """Say what came instead of a clear answer, and when it may be sent again.

        The pause doubles with each such try of the same object, as between tries of a request.
        """
        tries = self._uncertain_tries.get(effect.ref, 0)
        self._uncertain_tries[effect.ref] = tries + 1
        return WriteUncertain(
            self._clock.now(),
            effect.effect_id,
            error.message,
            backoff_seconds(0, 0.0, 0.0, self._client.jitter(), error.retry_after_seconds),
            self._pause_seconds(tries),
            error.answer,
        )

    def _pause_seconds(self, tries: int, most_seconds: float = math.inf) -> float:
        limits = self._client.limits
        longest = min(limits.longest_pause_seconds, most_seconds)
        return backoff_seconds(tries, limits.first_pause_seconds, longest, self._client.jitter())

    def _answer_conflict(self, effect: Write, error: ApiError) -> WriteAnswer:
        """Have the object read again, ever later; one that stays as it was, in the end no more.

        Whoever changes an object before each try may do so many times a second. A conflict over one
        that stays the same is about something else: an admission webhook may answer so, for good,
        and so may a quota that others use at the same moment.
        """
        at, version = self._clock.now(), effect.resource_version
        known = self._conflicts.get(effect.ref, _Conflicts(version, 0, 0))
        of_version = known.of_version if known.version == version else 0
        self._conflicts[effect.ref] = _Conflicts(version, of_version + 1, known.in_a_row + 1)
        if of_version >= _MOST_CONFLICTS:
            return WriteRejected(at, effect.effect_id, Reason.REJECTED, CleanText(error.message))
        if not known.in_a_row:
            return WriteConflicted(at, effect.effect_id)
        pause_seconds = self._pause_seconds(known.in_a_row - 1, _BUSY_SECONDS)
        if of_version:
            pause_seconds = max(pause_seconds, self._pause_seconds(of_version - 1))
        return WriteConflicted(at, effect.effect_id, pause_seconds)

    def _answer_refusal(self, effect: Write, error: ApiError) -> WriteAnswer:
        if isinstance(error, ResourceVersionConflict):
            return self._answer_conflict(effect, error)
        at, effect_id = self._clock.now(), effect.effect_id
        paths: tuple[str, ...] = ()
        if isinstance(error, FieldManagerConflict):
            paths = tuple(conflict.path for conflict in error.conflicts)
        gone = isinstance(error, NotFound) and not error.refused and effect.uid is not None
        reason = Reason.DELETED if gone else error.reason
        return WriteRejected(at, effect_id, reason, CleanText(error.message), paths)


def _with_preconditions(write: Write) -> dict[str, Any]:
    """Return the body with its preconditions in `metadata`, where the API expects them."""
    body = write.body.thaw()
    metadata = body.setdefault("metadata", {})
    if write.uid is not None:
        metadata["uid"] = write.uid
    if write.resource_version is not None:
        metadata["resourceVersion"] = write.resource_version
    return body


def _only_new(write: Write) -> dict[str, Any]:
    """Return the guarded body; one that should create can only make a new object."""
    body = _with_preconditions(write)
    if write.uid is None and write.resource_version is None:
        body["metadata"]["resourceVersion"] = _NO_VERSION
    return body


def _replace(field: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": f"/metadata/{field}", "value": value}
