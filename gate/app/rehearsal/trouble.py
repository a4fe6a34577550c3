"""What can go wrong with a rollout, by name: each a scenario for a sandbox."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from gate.app.rehearsal import measured
from gate.core.checks.spec import Check
from gate.core.frozen import dataclass
from gate.core.model.outcome import Outcome
from gate.duration import format_seconds, parse_seconds
from gate.errors import UsageError
from sandbox.face import Event, ImageRule, Images, Scenario, Series, actions, behaviour

CAUGHT: Final = (Outcome.ROLLED_BACK, Outcome.FAILED, Outcome.SUPERSEDED)
"""How a run ends that found a trouble and did what its policy says. A rollback that cannot be
verified is not among them, nor is a refusal."""


FIRST_MEASURED_SECONDS: Final = 1.0
"""Nothing measures a new version sooner; questions before the write are about the old one."""


class End(enum.Enum):
    """How a run with a trouble should end."""

    VERIFIED = "verified"
    CAUGHT = "caught"
    EITHER = "either"
    UNSAID = "unsaid"
    """Nobody said how: a scenario of the user."""
    KEPT = "kept"
    """The new version stays: verified, or with inconclusive checks."""

    def is_met(self, *, verified: bool, caught: bool, doubted: bool = False) -> bool:
        """Tell whether a run ended so; a run for which none of the flags holds never did."""
        if verified:
            return self is not End.CAUGHT
        return self is End.KEPT if doubted else caught and self in (End.CAUGHT, End.EITHER)


class Before(enum.Enum):
    """The state of a workload before the gate runs."""

    SERVES = "a version serves"
    NOTHING = "it was never deployed"
    TIMED_OUT = "a version beside it had timed out"


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that can go wrong.

    `pods` is what the new version's pods do, `event` what somebody else does meanwhile (`{name}`
    is the workload, `{pods}` the number of pods before), `checks` the answers to health checks.
    `pauses` says that it needs a workload that can be paused, `runs_on` one whose pods run on and
    do not end by themselves. `at` is when it begins, in seconds of the rollout.
    """

    name: str
    says: str
    pods: str = ""
    event: str = ""
    checks: measured.Answering | None = None
    before: Before = Before.SERVES
    end: End = End.CAUGHT
    pauses: bool = False
    runs_on: bool = False
    at: float = 0.0

    def __str__(self) -> str:
        """Return it as users write it: `KIND` or `KIND@T`."""
        return f"{self.name}@{format_seconds(self.at)}" if self.at else self.name

    @property
    def begins(self) -> bool:
        """Whether it begins at a given second of the rollout."""
        return bool(self.pods or self.event or self.checks)

    def scenario(
        self, images: tuple[str, ...], deployment: str, pods: int, checks: Iterable[Check] = ()
    ) -> Scenario:
        """Return its scenario for the first of `images` (the new version's) and one workload."""
        rules: list[ImageRule] = []
        events: list[Event] = []
        if self.pods and images:
            what = Series(((self.at, behaviour.parse(self.pods)),))
            rules.append(ImageRule(images[0], what))
        if self.event:
            text = self.event.format(name=deployment, pods=pods)
            events.append(Event(self.at, text, actions.parse(text)))
        answers = self.checks(checks) if self.checks else {}
        at = max(self.at, FIRST_MEASURED_SECONDS)
        series = {name: Series(((at, answer),)) for name, answer in answers.items()}
        return Scenario(Images(tuple(rules)), checks=series, events=tuple(events))


_ALL: Final = (
    Trouble("good", "nothing goes wrong", end=End.VERIFIED),
    Trouble(
        "slow-start",
        "new pods take a minute to get ready",
        pods="ready=60",
        end=End.VERIFIED,
        runs_on=True,
    ),
    Trouble(
        "restart-once",
        "a new container ends once, then runs",
        pods="restart-once",
        end=End.VERIFIED,
        runs_on=True,
    ),
    Trouble("crash", "every new container exits soon after it starts", pods="crash"),
    Trouble("oom", "new containers are out of memory", pods="oom"),
    Trouble("image-pull", "the image is not there", pods="image-pull"),
    Trouble("image-denied", "the registry does not give the image", pods="image-pull;why=denied"),
    Trouble("config-error", "a Secret or ConfigMap of the pods is missing", pods="config-error"),
    Trouble("never-ready", "new pods run and never get ready", pods="never-ready"),
    Trouble("flapping", "new pods get ready and not ready in turn", pods="flapping=5"),
    Trouble("unschedulable", "no node has room for the new pods", pods="unschedulable"),
    Trouble(  # without a surge, as with Recreate, no extra room is needed
        "quota",
        "a quota leaves no room for one pod more",
        event="quota pods={pods}",
        end=End.EITHER,
    ),
    Trouble(
        "superseded", "somebody sets another image", event="supersede {name} other:1", runs_on=True
    ),
    Trouble("paused", "somebody pauses the rollout", event="pause {name}", pauses=True),
    Trouble("deleted", "somebody deletes the workload", event="delete {name}"),
    Trouble(
        "stale-deadline",
        "the deadline condition of a failed version before still stands",
        before=Before.TIMED_OUT,
        end=End.VERIFIED,
    ),
    Trouble(
        "bad-checks",
        "what the required checks measure is out of their bounds",
        checks=measured.out_of_bounds,
    ),
    Trouble(
        "no-metrics",
        "Prometheus cannot be reached",
        checks=measured.unreachable,
        end=End.KEPT,
    ),
    Trouble(
        "first-deployment", "the first version ever crashes", pods="crash", before=Before.NOTHING
    ),
)
TROUBLES: Final = {trouble.name: trouble for trouble in _ALL}


def asked_for(text: str, *, with_checks: bool = True) -> Trouble:
    """Return the trouble that `KIND[@T]` names; UsageError lists the kinds for an unknown one.

    Without `with_checks` the list leaves out those about checks. Also UsageError for a bad `T`.
    """
    name, given, second = text.partition("@")
    if name not in TROUBLES:
        there = [each.name for each in _ALL if with_checks or each.checks is None]
        hint = f"there are {', '.join(there)}"
        raise UsageError(f"no such kind of trouble: {name!r}", hint=hint)
    found = TROUBLES[name]
    if not given:
        return found
    if not found.begins:
        raise UsageError(f"{name} does not begin at a second", hint=f"as in --with {name}")
    return replace(found, at=parse_seconds(second))
