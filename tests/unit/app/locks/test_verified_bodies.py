"""Bodies beside a lock: what is kept of them, what is left out, and what is not believed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from gate.app.locks.verified_bodies import VerifiedBodies
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body, FrozenMap
from gate.core.model.confidential_bodies import ConfidentialBody
from gate.core.model.lock import lock_of
from gate.core.model.objects import Ref
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion
from gate.kube.answers.failures import ApiError, Forbidden, Invalid
from gate.kube.locks.lease import Held
from gate.kube.locks.verified_secrets import VerifiedSecrets
from gate.wire.confidential import confidential_text

LOCK = lock_of(deployment_ref("shop", "web"))
HELD = Held(LOCK, "u1", "1")
KEYS = Ref("v1", "Secret", "shop", "keys")


@dataclass
class Stored:
    """The Secret as a server would keep it.

    `failure` is its answer to everything; without `prunes` it refuses a mere deletion.
    """

    texts: dict[str, str] = field(default_factory=dict)
    failure: ApiError | None = None
    prunes: bool = True
    requests: int = 0

    def read(self, _lock: object) -> Mapping[str, str]:
        """Return all of it."""
        return self.write(HELD, {})

    def write(self, _held: Held, texts: Mapping[str, str | None]) -> Mapping[str, str]:
        """Merge."""
        self.requests += 1
        if self.failure is not None:
            raise self.failure
        if texts and not self.prunes and not any(texts.values()):
            raise Forbidden("not allowed")
        self.texts = {k: text for k, text in {**self.texts, **texts}.items() if text is not None}
        return self.texts

    create = write


class Scene:
    """Bodies beside one lock."""

    def __init__(self, *, keeps: bool = True, most_characters: int = 10_000) -> None:
        self.stored = Stored()
        self.learned: list[Mapping[str, Any]] = []
        self.warnings: list[str] = []
        self.bodies = VerifiedBodies(
            cast("VerifiedSecrets", self.stored),
            self.learned.append,
            self.warnings.append,
            keeps=keeps,
            most_characters=most_characters,
        )

    def keep(self, before: History, *verified: ConfidentialBody) -> History:
        """Remember each as a version, and keep what the last one has."""
        after = remembering(before, *verified)
        return self.bodies.keep(HELD, before, after, {one.digest: one for one in verified})


def body(number: int, size: int = 10) -> ConfidentialBody:
    """Return the body of a Secret that does not pack well."""
    data = random.Random(number).randbytes(size).hex()
    return ConfidentialBody("Secret", "u2", Body.of({"data": {"key": data}}))


def remembering(history: History, *verified: ConfidentialBody) -> History:
    """Return a history with these versions beside its own."""
    versions = tuple(
        JudgedVersion("t", (), FrozenMap({KEYS: one.digest}), judged_at=f"day {one.digest}")
        for one in verified
    )
    return History((*history.versions, *versions), kept=history.kept)


@pytest.mark.contract("B708", "B709")
def test_what_was_kept_is_read() -> None:
    """As it was, and its values are masked from now on."""
    scene = Scene()
    history = scene.keep(History(), body(1))
    assert scene.bodies.read(LOCK, history.kept) == {body(1).digest: body(1).body}
    assert scene.learned == [body(1).body.thaw()]
    assert scene.bodies.read(LOCK, ["another"]) == {}
    assert scene.warnings == []


@pytest.mark.contract("B708")
@pytest.mark.parametrize(
    "text",
    [
        "nothing",
        confidential_text(body(2)),
        confidential_text(ConfidentialBody("Secret", "u3", body(1).body)),
        confidential_text(ConfidentialBody("ConfigMap", "u2", body(1).body)),
    ],
    ids=["no body", "another body", "another uid", "another kind"],
)
def test_what_the_digest_does_not_match_is_not_used(text: str) -> None:
    """It is named, and it is as if it were not there."""
    scene = Scene()
    scene.stored.texts = {body(1).digest: text}
    assert scene.bodies.read(LOCK, [body(1).digest]) == {}
    assert scene.learned == []
    assert "secret/rollout-gate.verified.web was changed" in scene.warnings[0]


@pytest.mark.contract("B709")
def test_the_oldest_and_largest_are_left_out_and_named() -> None:
    """What is left fits; the history knows what is there."""
    scene = Scene(most_characters=900)
    history = scene.keep(History(), body(1, 300))
    assert scene.warnings == []
    history = scene.keep(history, body(2, 300))
    assert set(history.kept) == set(scene.stored.texts) == {body(2, 300).digest}
    digest = body(1, 300).digest
    [warning] = scene.warnings
    assert warning.startswith(f"secret/keys, as verified at day {digest}, is too large to be saved")
    history = scene.keep(history, body(3, 1000))
    assert dict(history.kept) == {}
    assert scene.stored.texts == {}


@pytest.mark.contract("B709")
def test_what_the_history_does_not_need_goes() -> None:
    """Without the option too; what a gate that died has left goes with the next write."""
    scene = Scene()
    history = scene.keep(History(), body(1))
    scene.stored.texts["left"] = "text"
    scene.bodies = replace(scene.bodies, keeps=False)
    after = scene.bodies.keep(HELD, history, History(), {})
    assert (dict(after.kept), scene.stored.texts) == ({}, {})
    assert scene.bodies.keep(HELD, after, after, {}) == after
    assert scene.stored.requests == 3


@pytest.mark.contract("B709")
@pytest.mark.parametrize("failure", [Forbidden("not allowed"), Invalid("type: is immutable")])
def test_what_cannot_be_written_is_said_and_not_remembered(failure: ApiError) -> None:
    """The history does not claim what is not there; nothing is raised."""
    scene = Scene()
    history = scene.keep(History(), body(1))
    scene.stored.failure = failure
    after = scene.keep(history, body(2))
    assert set(after.kept) == {body(1).digest}
    [warning] = scene.warnings
    assert warning.startswith("what was verified of secret/keys is not kept: ")
    assert failure.message in warning
    assert scene.bodies.read(LOCK, after.kept) == {}
    assert "cannot be read" in scene.warnings[1]


@pytest.mark.contract("B709")
def test_what_was_kept_already_is_there_after_a_failed_write() -> None:
    """The same body was verified again: the history still has it, and no warning denies that."""
    scene = Scene()
    history = scene.keep(History(), body(1))
    scene.stored.failure = Forbidden("not allowed")
    again = scene.keep(history, body(1))
    assert again.kept == history.kept
    assert scene.warnings == []
    scene.stored.failure = None
    assert scene.bodies.read(LOCK, again.kept) == {body(1).digest: body(1).body}


@pytest.mark.contract("B709")
def test_what_is_not_deleted_is_said_and_still_remembered() -> None:
    """It is there: the next run deletes it."""
    scene = Scene()
    history = scene.keep(History(), body(1))
    scene.stored.failure = Forbidden("not allowed")
    after = scene.bodies.keep(HELD, history, History(), {})
    [warning] = scene.warnings
    assert warning.startswith("saved copies of Secrets that are no longer needed could not be")
    scene.stored.failure = None
    assert after.kept == history.kept
    assert dict(scene.bodies.keep(HELD, after, History(), {}).kept) == {}
    assert scene.stored.texts == {}


@pytest.mark.contract("B709")
def test_what_was_written_is_remembered_where_a_dead_gates_rest_stays() -> None:
    """The deletion is a second write: its failure takes nothing from the first one."""
    scene = Scene()
    scene.stored.texts["left"] = "text"
    scene.stored.prunes = False
    history = scene.keep(History(), body(1))
    assert set(history.kept) == {body(1).digest}
    [warning] = scene.warnings
    assert warning.startswith("saved copies of Secrets that are no longer needed could not be")
