"""What a trial is: drawn from its seed, so that the same seed is the same trial again."""

from __future__ import annotations

import enum
import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.interference.actions import ACTIONS, Action

MOST_EXTRA_ACTIONS = 2
LATEST_SECONDS = 3.0
TIMEOUT_SECONDS, ROLLBACK_SECONDS, LOCK_WAIT_SECONDS = 20, 20, 45


class Start(enum.StrEnum):
    """How what is there before the attempt came to be there."""

    GATE = "gate"
    """Version 1 was applied and verified by the gate."""
    KUBECTL = "kubectl"
    """Version 1 was applied by `kubectl apply`; no gate was ever here."""
    KEPT = "kept"
    """After a verified version 1, a bad version 9 was applied with `--on-failure keep`."""
    KEPT_WITH_SECRET = "kept-with-secret"
    """The same, and version 9 changed the Secret, of which a verified set has no body."""
    NOTHING = "nothing"
    """Nothing is there."""


class Anchor(enum.StrEnum):
    """What has to happen before an action's delay begins, as the API server shows it."""

    START = "start"
    """The gate's process was started."""
    LOCKED = "locked"
    """The gate holds its Lease."""
    CONFIGURED = "configured"
    """The ConfigMap is of the new version."""
    APPLIED = "applied"
    """The Deployment is of the new version."""
    EVIDENCE = "evidence"
    """A pod of the new version restarted, or waits for its image."""
    RETURNED = "returned"
    """The Deployment was of the new version, and is no longer."""


class Part(enum.StrEnum):
    """What a manifest may hold beside a ConfigMap, a Secret, a Service and a Deployment.

    The pods of the StatefulSet are as good or bad as those of the Deployment.
    """

    SECOND_DEPLOYMENT = "second-deployment"
    BUDGET = "budget"
    AUTOSCALER = "autoscaler"
    CREATED = "created"
    """A ConfigMap that only the attempt's version has."""
    STATEFUL_SET = "stateful-set"


@dataclass(frozen=True, slots=True)
class Step:
    """One action of somebody else, `seconds` after its anchor; `seed` is for its own choices."""

    action: str
    anchor: Anchor
    seconds: float
    seed: int

    def __str__(self) -> str:
        """Say it in a few words."""
        return f"{self.action} at {self.anchor}+{self.seconds:.2f}s"


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial; `behaviour` is that of the attempt's pods, "" where its version is good."""

    seed: int
    start: Start
    parts: frozenset[Part]
    replicas: int
    behaviour: str
    flags: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def is_good(self) -> bool:
        """Whether the attempt's version comes up where nobody disturbs it."""
        return self.behaviour in GOOD

    @property
    def is_kept(self) -> bool:
        """Whether a bad version stands before the attempt."""
        return self.start in {Start.KEPT, Start.KEPT_WITH_SECRET}

    @property
    def is_global(self) -> bool:
        """Whether one of its actions is felt in the whole cluster: it has to run alone."""
        return any(ACTIONS[step.action].is_global for step in self.steps)

    @property
    def actions(self) -> tuple[Action, ...]:
        """What others do."""
        return tuple(ACTIONS[step.action] for step in self.steps)

    def __str__(self) -> str:
        """Say it in one line."""
        parts = "+".join(sorted(self.parts)) or "plain"
        steps = ", ".join(map(str, self.steps))
        version = f"good ({self.behaviour})" if self.is_good else f"bad ({self.behaviour})"
        flags = " ".join(self.flags)
        return f"{self.start} start, {parts}, {self.replicas} pods, {version} {flags}: {steps}"


GOOD = ("ready=0.3", "ready=1.5")
BAD = ("crash=0.1", "crash=0.1", "crash=0.1", "never-ready", "image-pull")
_STARTS = (
    *[Start.GATE] * 6,
    *[Start.KUBECTL] * 2,
    *[Start.KEPT] * 2,
    Start.KEPT_WITH_SECRET,
    *[Start.NOTHING] * 2,
)
_BAD_FLAGS: tuple[tuple[str, ...], ...] = (
    (),
    (),
    (),
    (),
    ("--prune-created",),
    ("--on-failure", "keep"),
    ("--on-failure", "pause"),
)
_GOOD_ANCHORS = (Anchor.START, Anchor.LOCKED, *[Anchor.CONFIGURED] * 3, *[Anchor.APPLIED] * 4)
_BAD_ANCHORS = (*_GOOD_ANCHORS, *[Anchor.EVIDENCE] * 3, Anchor.RETURNED, Anchor.RETURNED)


def draw(seed: int) -> Trial:
    """Return the trial of a seed; its first action goes through all of them in turn."""
    chance = random.Random(seed)
    names = sorted(ACTIONS, key=lambda name: random.Random(name).random())
    first = names[seed % len(names)]
    is_good = chance.random() < 0.4
    flags: tuple[str, ...] = () if is_good else chance.choice(_BAD_FLAGS)
    if is_good and chance.random() < 0.3:
        flags = ("--bake", "2s")
    steps = _steps(chance, first, names, is_good=is_good)
    parts = frozenset(part for part in Part if chance.random() < 0.25)
    if any("autoscaler" in step.action for step in steps):
        parts |= {Part.AUTOSCALER} if chance.random() < 0.7 else frozenset()
    if any(step.action.startswith("stateful") for step in steps):
        parts |= {Part.STATEFUL_SET}
    if Part.STATEFUL_SET in parts and "pause" in flags:
        flags = ()  # which no StatefulSet can
    return Trial(
        seed=seed,
        start=chance.choice(_STARTS),
        parts=parts,
        replicas=chance.choice((1, 2, 2, 3)),
        behaviour=chance.choice(GOOD if is_good else BAD),
        flags=flags,
        steps=steps,
    )


def _steps(
    chance: random.Random, first: str, names: Sequence[str], *, is_good: bool
) -> tuple[Step, ...]:
    """Draw the actions: never two that run the gate again, and a global one only as the first."""
    actions = [first]
    rest = [name for name in names if not ACTIONS[name].is_global and name != first]
    for name in chance.sample(rest, chance.choice((0, 0, 1, MOST_EXTRA_ACTIONS))):
        if not (ACTIONS[name].runs_gate and any(ACTIONS[each].runs_gate for each in actions)):
            actions.append(name)
    anchors = _GOOD_ANCHORS if is_good else _BAD_ANCHORS
    return tuple(_step(chance, name, anchors) for name in actions)


def _step(chance: random.Random, name: str, anchors: Sequence[Anchor]) -> Step:
    delays = (0.0, chance.uniform(0.0, 0.3), chance.uniform(0.0, LATEST_SECONDS))
    seconds = round(chance.choice(delays), 3)
    return Step(name, chance.choice(anchors), seconds, chance.randrange(1 << 16))
