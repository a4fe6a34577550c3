"""What a lock remembers of its Deployment, as text."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gate.core.model.body import Body, FrozenMap
from gate.core.model.objects import CleanText, Ref
from gate.core.model.origin import MOST_ACTOR_CHARACTERS, Origin
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause
from gate.core.versions.history import Closing, History
from gate.core.versions.judged_version import JudgedVersion, LeftVersion
from gate.core.versions.known_replicas import KnownReplicas
from gate.wire import history as history_module
from gate.wire.history import MOST_BODIES_BYTES, MOST_CHARACTERS, history_text, read_history
from gate.wire.packed import pack, unpack
from tests.unit.wire.api_objects import noise

WEB = Ref("apps/v1", "Deployment", "shop", "web")
CONFIG = Ref("v1", "ConfigMap", "shop", "settings")
CONFIG_KEY = ("v1", "ConfigMap", "shop", "settings")
VERIFIED = JudgedVersion(
    "template-1",
    (CleanText("shop/web:1"),),
    FrozenMap({WEB: "w1", CONFIG: "c1"}),
    "web-1",
    3,
    attempt_id="ci/7 abc",
    run_url="https://ci/7",
    judged_at="2026-01-01T00:00:00Z",
    origin=Origin("https://ci/7", "alice", "0123abc"),
)
FAILED = replace(
    VERIFIED, template="template-2", why=Cause(Reason.TIMEOUT, CleanText("slow"), 2), revision=None
)


@pytest.mark.contract("B536", "B537", "B74", "B1800")
def test_a_history_is_read_as_it_was_written() -> None:
    """The versions with their reasons, the bodies of what was verified, whether we paused it."""
    bodies = FrozenMap({"w1": Body.of({"spec": {}}), "c1": Body.of({"data": {"a": "b"}})})
    kept = FrozenMap({"s1": 42})
    replicas = KnownReplicas(3, scaled_down=True, others=5)
    history = History(
        (VERIFIED, FAILED), bodies, paused=True, replicas=replicas, uid="u-1", kept=kept
    )
    left = LeftVersion("template-1", FrozenMap({WEB: "w1"}), "2026-01-01T00:00:00Z")
    history = replace(history, unjudged=(VERIFIED, FAILED), left=(left,))
    history = replace(history, others=frozenset({(CONFIG, "c1")}))
    assert read_history(history_text(history)) == history
    assert read_history("") == History()


@pytest.mark.contract("B74")
@pytest.mark.parametrize("said", [{}, {"replicas": None}, {"replicas": True}, {"replicas": "3"}])
def test_a_history_without_replicas_remembers_none(said: dict[str, object]) -> None:
    """That of an older version, and what is no number."""
    assert read_history(pack({"paused": False, **said})) == History()


def history_object(text: str) -> dict[str, Any]:
    """Return the newest version in a text, as any reader finds it there."""
    version: dict[str, Any] = unpack(text, lambda value: value["versions"][-1])
    return version


@pytest.mark.contract("B780")
def test_an_older_gate_and_this_one_read_each_others_history() -> None:
    """What an older one wrote has no origin; all that it reads is written as it was."""
    version = history_object(history_text(History((VERIFIED,))))
    assert read_history(pack({"paused": False, "versions": [version]})).versions == (VERIFIED,)
    origin = version.pop("origin")
    assert origin == {"run_url": "https://ci/7", "actor": "alice", "commit": "0123abc"}
    assert version == {
        "template": "template-1",
        "images": ["shop/web:1"],
        "members": [[["apps/v1", "Deployment", "shop", "web"], "w1"], [[*CONFIG_KEY], "c1"]],
        "replica_set": "web-1",
        "revision": 3,
        "why": None,
        "attempt": "ci/7 abc",
        "run_url": "https://ci/7",
        "at": "2026-01-01T00:00:00Z",
    }
    older = pack({"paused": False, "versions": [version]})
    assert read_history(older).versions == (replace(VERIFIED, origin=None),)


@pytest.mark.contract("B780", "B561")
def test_an_origin_in_a_history_is_somebodys_text() -> None:
    """Whoever may write Leases may write it: clean, short, a web address and a hash."""
    version = history_object(history_text(History((VERIFIED,))))
    bad = {"run_url": "javascript:x", "actor": "a\x1b[2J\n" + "b" * 9_999, "commit": "::error::"}
    text = pack({"paused": False, "versions": [{**version, "origin": bad}]})
    (found,) = read_history(text).versions
    assert found.origin is not None
    assert (found.origin.run_url, found.origin.commit) == ("", "")
    assert found.origin.actor.startswith("a bbb")
    assert len(found.origin.actor) == MOST_ACTOR_CHARACTERS


@pytest.mark.contract("B702", "B536")
def test_what_does_not_fit_is_left_out_oldest_and_largest_first() -> None:
    """The digests stay, so that what is missing can be told from what has not changed."""
    old = replace(VERIFIED, members=FrozenMap({WEB: "w0", CONFIG: "c0"}), template="template-0")
    sizes = {"w0": 20_000, "c0": 30_000, "w1": 10_000, "c1": 20_000}
    bodies = {
        key: Body.of({"data": noise(size, seed)}) for seed, (key, size) in enumerate(sizes.items())
    }
    text = history_text(History((old, VERIFIED), FrozenMap(bodies)))
    assert len(text) <= MOST_CHARACTERS
    found = read_history(text)
    assert (found.versions, set(found.bodies)) == ((old, VERIFIED), {"w1", "c1"})


@pytest.mark.contract("B707")
@pytest.mark.parametrize(("count", "size"), [(30, 40_000), (10, 400_000)], ids=["many", "large"])
def test_a_history_is_packed_a_bounded_number_of_times(
    monkeypatch: pytest.MonkeyPatch, count: int, size: int
) -> None:
    """A small body that fits is remembered beside any number of large ones."""
    sizes: list[int] = []

    def counted(value: Mapping[str, Any]) -> str:
        sizes.append(len(json.dumps(value)))
        return pack(value)

    monkeypatch.setattr(history_module, "pack", counted)
    large = {f"c{number}": Body.of({"data": noise(size, number)}) for number in range(count)}
    refs = {key: replace(CONFIG, name=CleanText(key)) for key in large}
    members = FrozenMap({WEB: "w1", **{ref: key for key, ref in refs.items()}})
    version = replace(VERIFIED, members=members)
    bodies = FrozenMap({"w1": Body.of({"spec": {}}), **large})
    text = history_text(History((version,), bodies))
    assert len(text) <= MOST_CHARACTERS
    found = read_history(text)
    assert (found.versions, "w1" in found.bodies) == ((version,), True)
    assert len(sizes) <= count + 5
    assert sum(sizes) <= 2.2 * MOST_BODIES_BYTES


def remembered(sizes: list[int]) -> list[int]:
    """Return which bodies of so many bytes of JSON, which pack to nothing, are remembered."""
    around = len(Body.of({"data": ""}).canonical)
    bodies = {
        f"c{at}": Body.of({"data": chr(ord("a") + at) * (size - around)})
        for at, size in enumerate(sizes)
    }
    members = FrozenMap({replace(CONFIG, name=CleanText(key)): key for key in bodies})
    found = read_history(
        history_text(History((replace(VERIFIED, members=members),), FrozenMap(bodies)))
    )
    return [at for at in range(len(sizes)) if f"c{at}" in found.bodies]


@pytest.mark.contract("B707")
def test_no_more_than_1_mib_of_bodies_is_remembered() -> None:
    """None above 256 KiB, however well it packs, and the smallest come first."""
    assert remembered([256 * 1024, 256 * 1024 + 1, 10]) == [0, 2]
    assert remembered([256 * 1024] * 4) == [0, 1, 2, 3]
    assert remembered([256 * 1024] * 4 + [100]) == [0, 1, 2, 4]


@pytest.mark.contract("B707", "B702")
def test_a_body_that_never_fits_keeps_no_other_out() -> None:
    """The newest set's largest one is missing either way; older sets stay whole."""
    old = replace(VERIFIED, members=FrozenMap({WEB: "w0", CONFIG: "c0"}), template="template-0")
    sizes = {"w0": 5_000, "c0": 5_000, "w1": 5_000, "c1": 150_000}
    bodies = {
        key: Body.of({"data": noise(size, seed)}) for seed, (key, size) in enumerate(sizes.items())
    }
    found = read_history(history_text(History((old, VERIFIED), FrozenMap(bodies))))
    assert set(found.bodies) == {"w0", "c0", "w1"}


@pytest.mark.contract("B707", "B705")
def test_what_was_left_and_what_was_not_judged_take_no_room_of_versions() -> None:
    """Of hundreds of objects the versions stay, then what an undo left."""

    def members(number: int, count: int) -> FrozenMap[Ref, str]:
        digests = [random.Random(f"{number} {one}").randbytes(16).hex() for one in range(count)]
        return FrozenMap(
            (replace(CONFIG, name=CleanText(str(n))), one) for n, one in enumerate(digests)
        )

    versions = (replace(VERIFIED, members=members(0, 500)),)
    left = tuple(LeftVersion("template-1", members(n, 200), "") for n in range(1, 6))
    unjudged = tuple(replace(FAILED, members=members(n, 500)) for n in range(6, 11))
    text = history_text(History(versions, left=left, unjudged=unjudged))
    assert len(text) <= MOST_CHARACTERS
    found = read_history(text)
    assert found.versions == versions
    assert 0 < len(found.left) <= 5
    assert found.left == left[-len(found.left) :]
    assert len(found.unjudged) < 5


@pytest.mark.contract("B707")
def test_what_is_kept_beside_is_remembered_for_the_versions_that_stay_alone() -> None:
    """Digests of thousands of Secrets do not fit: the end of an attempt comes all the same."""

    def version(number: int, count: int) -> JudgedVersion:
        digests = [random.Random(f"{number} {one}").randbytes(16).hex() for one in range(count)]
        members = {
            replace(CONFIG, name=CleanText(str(one))): digest for one, digest in enumerate(digests)
        }
        return replace(VERIFIED, template=str(number), members=FrozenMap(members))

    def sizes(*versions: JudgedVersion) -> FrozenMap[str, int]:
        return FrozenMap((one, 300) for each in versions for one in each.members.values())

    old, new, huge = version(1, 900), version(2, 500), version(3, 4_000)
    for versions, stay in (((old, new), (new,)), ((new, huge), ())):
        text = history_text(History(versions, kept=sizes(*versions)))
        assert len(text) <= MOST_CHARACTERS
        found = read_history(text)
        assert (found.versions, found.kept) == (stay, sizes(*stay))


@pytest.mark.contract("B536")
def test_the_newest_versions_are_remembered() -> None:
    """Three that were verified and five that were not, each once, and the bodies of the three."""
    history = History()
    for number in range(4):
        members = FrozenMap({WEB: f"w{number}"})
        good = replace(VERIFIED, template=f"good-{number}", members=members)
        bad = replace(FAILED, template=f"bad-{number}", members=members)
        bodies = FrozenMap({f"w{number}": Body.of({"n": number})})
        history = history.after(Closing(WEB, (bad, good), bodies), "id", "", f"{number}")
    history = history.after(Closing(WEB, (replace(FAILED, template="bad-0"),)), "id", "", "4")
    history = history.after(Closing(WEB, (replace(FAILED, template="bad-4"),)), "id", "", "5")
    assert [one.template for one in history.verified] == ["good-3", "good-2", "good-1"]
    assert set(history.bodies) == {"w1", "w2", "w3"}
    failed = [one.template for one in history.versions if one.failed]
    assert failed == ["bad-1", "bad-2", "bad-3", "bad-0", "bad-4"]


@pytest.mark.contract("B537")
def test_a_verification_answers_the_failures_of_its_template() -> None:
    """A failure of the day leaves an earlier verification standing, and stands beside it."""
    same = replace(VERIFIED, why=FAILED.why)
    history = History().after(Closing(WEB, (VERIFIED, same)), "id", "", "1")
    assert [one.verified for one in history.versions] == [True, False]
    history = history.after(Closing(WEB, (VERIFIED,)), "id", "", "2")
    assert [one.verified for one in history.versions] == [True]


@pytest.mark.contract("B848")
def test_a_time_that_an_earlier_release_wrote_is_read_in_the_form_of_now() -> None:
    """They are compared as texts, and told beside each other."""
    earlier = "2026-01-01T00:00:00+00:00"
    left = LeftVersion("template-1", FrozenMap({WEB: "w1"}), earlier)
    history = replace(History((replace(VERIFIED, judged_at=earlier),)), left=(left,))
    found = read_history(history_text(history))
    assert found.versions[0].judged_at == found.left[0].left_at == "2026-01-01T00:00:00Z"
