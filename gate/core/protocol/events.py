"""The incoming messages: all that an attempt may receive. `at` is monotonic seconds.

Observations are legal in every state. An answer is legal only while the effect with its
`effect_id` is outstanding.
"""

from __future__ import annotations

import enum
from dataclasses import field

from gate.core.checks import questions
from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Fact
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock
from gate.core.model.objects import CleanText, Node, Pod, Ref, Revision
from gate.core.model.outcome import Reason
from gate.core.rollout.observations import Listed, Observed, Vanished
from gate.core.versions.brought_states import BroughtState


@dataclass(frozen=True, slots=True)
class Woke:
    """The time that `steps.step.wake_at` returned has come."""

    at: float


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A signal asks the attempt to end."""

    at: float
    signal_number: int


@dataclass(frozen=True, slots=True)
class Suspended:
    """The gate itself, or its machine, stood still for at most `seconds` until `at`."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class ContactFailed:
    """A request or a watch failed, or its answer took long: facts may have been missed."""

    at: float
    why: str


@dataclass(frozen=True, slots=True)
class ContactLost:
    """No request has succeeded for `failing_seconds`; `why` is the last failure.

    `answers` are what came instead, as `429 Too Many Requests`; "" is no answer at all.
    """

    at: float
    why: str
    failing_seconds: float = 0.0
    answers: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True)
class ContactRestored:
    """A request has succeeded again."""

    at: float


@dataclass(frozen=True, slots=True)
class AccessRefused:
    """The API server answers but refuses us: `reason` is Forbidden or Unauthorized.

    `what` is refused: a kind in a namespace.
    """

    at: float
    what: str
    why: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class AccessGranted:
    """The API server allows again what it refused."""

    at: float
    what: str


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """Somebody else holds locks of this attempt; `holder` took the first of them.

    Without `locks` it is not known which.
    """

    at: float
    holder: str
    locks: tuple[Lock, ...] = ()


@dataclass(frozen=True, slots=True)
class ControllersSilent:
    """The controller manager has not renewed its Lease since `since` (monotonic seconds)."""

    at: float
    since: float


@dataclass(frozen=True, slots=True)
class ControllersActed:
    """The controller manager renews its Lease again, or something moved, or nobody can tell."""

    at: float


ContactEvent = ContactFailed | ContactLost | ContactRestored | AccessRefused | AccessGranted
Observation = (
    Observed
    | Vanished
    | Listed
    | Woke
    | Interrupted
    | Suspended
    | ContactEvent
    | LeaseLost
    | ControllersSilent
    | ControllersActed
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """The record is saved."""

    at: float
    effect_id: int


@dataclass(frozen=True, slots=True)
class Written:
    """The write was done; `live` is what the server returned, None after a delete.

    `is_created` is whether the server made a new object (201, not 200).
    """

    at: float
    effect_id: int
    live: LiveObject | None
    is_created: bool = False


@dataclass(frozen=True, slots=True)
class WriteConflicted:
    """409 on the resourceVersion: the object changed since it was read, or something else did.

    The write was not done. `pause_seconds` is how long we wait before it is read again: 0 at the
    first such answer in a row.
    """

    at: float
    effect_id: int
    pause_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class WriteRejected:
    """The server refused the write for good: invalid, forbidden, another field manager, deleted.

    `paths` names the fields in conflict, empty otherwise.
    """

    at: float
    effect_id: int
    reason: Reason
    message: CleanText
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteUncertain:
    """The write may or may not have taken effect: no answer came, or an error that leaves it open.

    `retry_after_seconds` is how long the server wants us to wait before it is sent again,
    `pause_seconds` how long we wait by ourselves. `answer` is the error, "" if nothing came.
    """

    at: float
    effect_id: int
    why: str
    retry_after_seconds: float = 0.0
    pause_seconds: float = 0.0
    answer: str = ""


@dataclass(frozen=True, slots=True)
class ReadBack:
    """A quorum read; the lists are None unless the whole rollout was asked for.

    `nodes` are those of the cluster, for a kind that looks at them; none if nobody may read them.
    `tried` is what the server would make of the restoration that was to be tried, None if it does
    not say.
    """

    at: float
    effect_id: int
    fact: Fact[LiveObject]
    revisions: tuple[Revision, ...] | None = None
    pods: tuple[Pod, ...] | None = None
    nodes: tuple[Node, ...] = ()
    tried: LiveObject | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of evidence: an event, a termination or the last lines of a log.

    `previous` is true of a log that `kubectl logs --previous` would show.
    """

    kind: str
    pod: str
    container: str
    text: CleanText
    at: str
    previous: bool = False


@dataclass(frozen=True, slots=True)
class Collected:
    """The evidence that could be collected in time; may be none."""

    at: float
    effect_id: int
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """A check's questions have their answers."""

    at: float
    effect_id: int
    answers: questions.Answers


@dataclass(frozen=True, slots=True)
class Errored:
    """Why a check's questions have no answers."""

    at: float
    effect_id: int
    error: questions.Errored


@dataclass(frozen=True, slots=True)
class UsersFound:
    """Why some of the objects in question are to stay: another run `used` them as they are.

    Of those in `unknown` nobody can tell, each with the reason; nobody else uses the rest.
    `brought_states` are what another run, which is unverified, had brought to those of the rest
    before this attempt.
    """

    at: float
    effect_id: int
    used: FrozenMap[Ref, str]
    unknown: FrozenMap[Ref, str] = field(default_factory=FrozenMap)
    brought_states: FrozenMap[Ref, BroughtState] = field(default_factory=FrozenMap)


@dataclass(frozen=True, slots=True)
class TerminatingNamespacesFound:
    """Which of the namespaces in question are being deleted, or are gone, as far as was read."""

    at: float
    effect_id: int
    names: frozenset[str]


class Removal(enum.StrEnum):
    """What became of the removal of a pod; `GUARDED`: a PodDisruptionBudget forbids it for now."""

    ACCEPTED = "accepted"
    GUARDED = "guarded"
    REFUSED = "refused"
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True)
class PodRemoval:
    """The answer to the removal of a pod; `message` is the server's, "" if it was accepted.

    A pod that is gone, or another one under its name, counts as accepted.
    """

    at: float
    effect_id: int
    removal: Removal
    message: str = ""


@dataclass(frozen=True, slots=True)
class Released:
    """The lock is released."""

    at: float
    effect_id: int


Answer = (
    Recorded
    | Written
    | WriteConflicted
    | WriteRejected
    | WriteUncertain
    | ReadBack
    | Collected
    | Answered
    | Errored
    | UsersFound
    | TerminatingNamespacesFound
    | PodRemoval
    | Released
)
AttemptEvent = Observation | Answer
