"""What an undo leaves of an object that it shares with a Deployment which stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import FrozenMap
from gate.core.model.objects import Ref
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion
from gate.core.versions.shared_members import SharedMember, shared_members, with_shared_members

WEB, API = deployment_ref("shop", "web"), deployment_ref("shop", "api")
SETTINGS = Ref("v1", "ConfigMap", "shop", "settings")


def verified(own: Ref, digest: str, settings: str, hour: int) -> JudgedVersion:
    """Return a version of a Deployment that was verified at an hour, with its settings."""
    members = FrozenMap({own: digest, SETTINGS: settings})
    return JudgedVersion("1", (), members, judged_at=f"2026-11-21T{hour:02}:00:00Z")


FIRST = verified(WEB, "w1", "one", 10)
"""What an undo of web returns to."""
RUNS = {WEB: "w2", API: "a1", SETTINGS: "three"}


def shared(
    *of_api: JudgedVersion, runs: dict[Ref, str] = RUNS, returned: tuple[Ref, ...] = ()
) -> list[SharedMember]:
    """Return what a return of web to its first version shares with api."""
    histories = {WEB: History((FIRST,)), API: History(of_api)}
    return list(shared_members(FIRST, WEB, histories, runs, returned))


@pytest.mark.contract("B703")
@pytest.mark.parametrize(("hour", "counts"), [(9, False), (10, True), (11, True)])
def test_what_another_was_verified_with_counts_from_the_version_on(hour: int, counts: bool) -> None:
    """Of a verification before it, the version itself has the newer content."""
    found = shared(verified(API, "a1", "two", hour))
    assert found == ([SharedMember(SETTINGS, "two", API, is_live=False)] if counts else [])
    assert with_shared_members(FIRST, found).members[SETTINGS] == ("two" if counts else "one")


@pytest.mark.contract("B703")
def test_what_stands_as_another_needs_it_is_not_to_be_returned() -> None:
    """The undo is refused for it; the version itself is not changed."""
    found = shared(verified(API, "a1", "three", 11))
    assert found == [SharedMember(SETTINGS, "three", API, is_live=True)]
    assert with_shared_members(FIRST, found) == FIRST


@pytest.mark.contract("B703")
def test_of_another_its_newest_version_that_runs_counts() -> None:
    """What it was verified with earlier, or runs no more, needs nothing."""
    older, newer = verified(API, "a1", "two", 11), verified(API, "a1", "four", 12)
    assert [one.digest for one in shared(older, newer)] == ["four"]
    assert shared(older, verified(API, "a2", "four", 12))[0].digest == "two"
    assert shared(verified(API, "a2", "four", 12)) == []


@pytest.mark.contract("B703")
def test_nothing_is_shared_with_what_returns_too_or_belongs_to_the_set() -> None:
    """One goes where the undo takes it; the other was verified with just that version."""
    one = verified(API, "a1", "two", 11)
    assert [found.workload for found in shared(one)] == [API]
    assert shared(one, returned=(API,)) == []
    of_set = replace(FIRST, members=FrozenMap({**FIRST.members, API: "a1"}))
    histories = {WEB: History((of_set,)), API: History((one,))}
    assert shared_members(of_set, WEB, histories, RUNS, ()) == ()
    assert shared_members(of_set, WEB, histories, {**RUNS, API: "a3"}, ()) == ()


@pytest.mark.contract("B703")
def test_what_both_need_alike_is_not_shared() -> None:
    """It returns to what serves both."""
    assert shared(verified(API, "a1", "one", 11)) == []
