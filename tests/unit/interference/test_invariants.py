"""The invariants of disturbed attempts: good ends keep them all, and each sees what breaks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from tests.bed.scene import web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.interference import shop
from tests.interference.actions import FOREIGN_HOLDER
from tests.interference.facts import Facts, Writer
from tests.interference.invariants import INVARIANTS, broken
from tests.interference.trial import Start
from tests.unit.interference.story import (
    KEYS,
    LEASE,
    SERVICE,
    SETTINGS,
    WEB,
    Story,
    begun,
    broken_off,
    by_hand,
    complete,
    kept_and_forgotten,
    lease,
    performed,
    rolled_back,
    said,
    superseded,
    trial,
    verified,
    write_of,
)


def names(facts: Facts) -> set[str]:
    """Return the invariants that an attempt breaks."""
    return {each.partition(":")[0] for each in broken(facts)}


def with_document(facts: Facts, document: JSON) -> Facts:
    """Return the facts with what the gate said."""
    return replace(facts, ended=replace(facts.ended, document=document))


def ended(facts: Facts, *codes: int, seconds: float = 5.0, stderr: str = "") -> Facts:
    """Return the facts with other runs."""
    results = tuple(Result(("apply",), code, "", stderr, seconds) for code in codes)
    return replace(facts, ended=replace(facts.ended, results=results))


# -- good ends -------------------------------------------------------------------------------------


def test_good_ends_keep_every_invariant() -> None:
    """Verified, rolled back, kept, superseded, refused: nothing is said of any."""
    overtaken = performed("set-image")
    good = {
        "verified": with_document(verified().facts(0), said((SETTINGS, "changed"))),
        "rolled back": with_document(
            rolled_back().facts(4), said((SETTINGS, "restored"), running="baseline", code=4)
        ),
        "kept": verified().facts(6, trial=trial(is_good=False, flags=("--on-failure", "keep"))),
        "superseded": superseded().facts(8, performed=overtaken),
        "refused": begun().facts(3, performed=performed("pause", is_early=True)),
    }
    assert {name: broken(facts) for name, facts in good.items() if broken(facts)} == {}


def test_what_keeps_a_write_off_comes_before_it() -> None:
    """Its managed fields were taken over before: that is no write yet."""
    facts = begun().facts(4, performed=performed("autoscaler-changed"))
    (action,), (*others, last) = facts.performed, facts.requests
    assert not facts.is_early(action)
    taken_over, refused = replace(last, body=[{"op": "replace"}]), replace(last, code=409)
    assert replace(facts, requests=(*others, taken_over, refused)).is_early(action)


def test_a_change_after_the_last_read_is_no_fault_of_the_verdict() -> None:
    """What was complete when it was read last may be anything a moment later."""
    for story, code in ((verified(), 0), (rolled_back(), 4)):
        read_at = story.now()
        story.write(Writer.OTHERS, WEB, by_hand(story))
        facts = story.facts(code)
        assert not broken(replace(facts, ended=replace(facts.ended, last_read_at={WEB: read_at})))


def test_a_secret_that_had_changed_before_is_what_nobody_could_return() -> None:
    """Exit 5 is right where others had changed the Secret since it was verified."""
    story = begun()
    story.apply(Writer.OTHERS, shop.NEW, only=[KEYS])
    story.apply(Writer.OURS, shop.NEW, only=[SETTINGS, SERVICE, WEB])
    story.apply(Writer.OURS, 1, only=[SETTINGS, SERVICE, WEB])
    kept = trial(is_good=False, start=Start.KEPT_WITH_SECRET)
    assert not broken(story.facts(5, trial=kept))


def _beside_a_kept_version(status: Callable[[JSON], JSON]) -> tuple[Story, JSON]:
    """Return a story with a kept bad version of this status, and its Deployment."""
    story = begun()
    story.apply(Writer.BEFORE, shop.KEPT, only=[SETTINGS, KEYS, SERVICE])
    [body] = [each for each in shop.version(shop.KEPT) if each["kind"] == "Deployment"]
    story.write(Writer.BEFORE, WEB, status(body))
    return story, body


def _started_at(story: Story, started: int) -> Facts:
    facts = story.facts(4, trial=trial(is_good=False, start=Start.KEPT))
    return replace(facts, ended=replace(facts.ended, started=started))


def _rejected_before_its_deployment(status: Callable[[JSON], JSON]) -> Facts:
    """Return an attempt that began beside a kept bad version, and came not to its Deployment."""
    story, body = _beside_a_kept_version(status)
    started = story.number
    story.apply(Writer.OURS, shop.NEW, only=[SETTINGS])
    story.apply(Writer.OURS, shop.KEPT, only=[SETTINGS])
    story.write(Writer.MACHINERY, WEB, broken_off(body))
    return _started_at(story, started)


def test_a_kept_version_that_was_not_written_need_not_be_complete() -> None:
    """Exit 4 of an apply that was rejected before its Deployment: it is as it was, incomplete."""
    assert not broken(_rejected_before_its_deployment(broken_off))


# -- each invariant sees what breaks it ------------------------------------------------------------


def _verified_without_pods() -> Facts:
    story = begun()
    story.apply(Writer.OURS, shop.NEW, only=[SETTINGS, KEYS, SERVICE])
    [body] = [each for each in shop.version(shop.NEW) if each["kind"] == "Deployment"]
    story.write(Writer.OURS, WEB, broken_off(body))
    return story.facts(0)


def _verified_with_another_template() -> Facts:
    story = verified()
    story.write(Writer.OTHERS, WEB, by_hand(story))
    return story.facts(0)


def _verified_without_the_configuration() -> Facts:
    story = begun()
    story.apply(Writer.OURS, shop.NEW, only=[KEYS, SERVICE, WEB])
    return story.facts(0)


def _rolled_back_without_the_service() -> Facts:
    story = verified()
    story.apply(Writer.OURS, 1, only=[SETTINGS, KEYS, WEB])
    return story.facts(4)


def _rolled_back_over_a_foreign_key() -> Facts:
    """The rollback restores the ConfigMap, and somebody's key is gone."""
    story = verified()
    data = {shop.VERSION: "2", "mode": "mode-2", "theirs": "1"}
    story.change(Writer.OTHERS, SETTINGS, data=data)
    story.apply(Writer.OURS, 1)
    return story.facts(4)


def _foreign_key_stops_the_rest() -> Facts:
    """Somebody's key stands, and none of ours has returned."""
    story = verified()
    data = {shop.VERSION: "2", "mode": "mode-2", "theirs": "1"}
    story.change(Writer.OTHERS, SETTINGS, data=data)
    story.apply(Writer.OURS, 1, only=[KEYS, SERVICE, WEB])
    return story.facts(4)


def _old_version_without_pods() -> Facts:
    story = verified()
    story.apply(Writer.OURS, 1, only=[SETTINGS, KEYS, SERVICE])
    [body] = [each for each in shop.version(1) if each["kind"] == "Deployment"]
    story.write(Writer.OURS, WEB, broken_off(body))
    return story.facts(4)


def _old_version_broke_while_another_was_written() -> Facts:
    return _rejected_before_its_deployment(complete)


def _kept_version_written_and_not_complete() -> Facts:
    story, _ = _beside_a_kept_version(broken_off)
    started = story.number
    story.apply(Writer.OURS, shop.NEW)
    story.apply(Writer.OURS, 1, only=[SETTINGS, KEYS, SERVICE])
    [body] = [each for each in shop.version(1) if each["kind"] == "Deployment"]
    story.write(Writer.OURS, WEB, broken_off(body))
    return _started_at(story, started)


def _superseded_and_taken_back() -> Facts:
    story = superseded()
    story.apply(Writer.OURS, 1, only=[WEB])
    return story.facts(8, performed=performed("set-image"))


def _deleted_and_created_again() -> Facts:
    story = verified()
    story.write(Writer.OTHERS, WEB, None)
    story.apply(Writer.OURS, 1)
    return story.facts(4)


def _scaled_and_overwritten() -> Facts:
    story = begun()
    [body] = [each for each in shop.version(1) if each["kind"] == "Deployment"]
    story.write(Writer.OTHERS, WEB, complete({**body, "spec": {**body["spec"], "replicas": 0}}))
    story.apply(Writer.OURS, shop.NEW)
    return story.facts(0, performed=performed("scale-to-zero", is_early=True))


def _refused_after_a_write() -> Facts:
    story = begun()
    story.apply(Writer.OURS, shop.NEW, only=[SETTINGS])
    return story.facts(3, performed=performed("pause", is_early=True))


def _kept_and_taken_back() -> Facts:
    flags = ("--on-failure", "keep")
    return rolled_back().facts(6, trial=trial(is_good=False, flags=flags))


def _kept_in_part() -> Facts:
    story = begun()
    story.apply(Writer.OURS, shop.NEW, only=[SETTINGS, KEYS, SERVICE])
    flags = ("--on-failure", "keep")
    return story.facts(6, trial=trial(is_good=False, flags=flags))


def _verified_after_two_writes() -> Facts:
    story = rolled_back()
    story.apply(Writer.OURS, shop.NEW)
    return story.facts(0)


def _a_bad_versions_configuration() -> Facts:
    """The Deployment goes back to what was verified, the rest to the bad version before."""
    story = begun()
    story.apply(Writer.BEFORE, shop.KEPT)
    story.apply(Writer.OURS, shop.NEW)
    story.apply(Writer.OURS, shop.KEPT, only=[SETTINGS, KEYS, SERVICE])
    story.apply(Writer.OURS, 1, only=[WEB])
    return story.facts(4, trial=trial(is_good=False, start=Start.KEPT))


def _failed_for_a_secret_that_others_changed_later() -> Facts:
    """The attempt had read the Secret as it was verified, and could have returned it."""
    story = verified()
    story.write(Writer.OTHERS, KEYS, {**shop.version(shop.THIRD)[1]})
    story.apply(Writer.OURS, 1, only=[SETTINGS, SERVICE, WEB])
    return story.facts(5, trial=trial(is_good=False, start=Start.KEPT_WITH_SECRET))


def _untrue(document: JSON, story: Story | None = None, code: int = 0) -> Facts:
    """Return an attempt that says this of what it did: version 2 verified, where no story is."""
    return with_document((story or verified()).facts(code), document)


def _changed_by_others(body: JSON | None) -> Story:
    story = verified()
    story.write(Writer.OTHERS, SETTINGS, body)
    return story


def _left(*left: JSON) -> Facts:
    return verified().facts(0, left=left)


_FROZEN = performed("config-map-made-immutable")
_BY_HAND = {**shop.version(shop.NEW)[0], "data": {shop.VERSION: "hand", "mode": "mode-2"}}
_TRACEBACK = "Traceback (most recent call last):\n"
_OTHER = web(name="other")

PLANTED: dict[str, list[Callable[[], Facts]]] = {
    "ends_as_it_may": [
        lambda: ended(rolled_back().facts(0), 4),
        lambda: verified().facts(3, performed=performed("kubectl-applies-the-same-version")),
        lambda: kept_and_forgotten(is_early=False),
    ],
    "ends_in_time": [lambda: ended(verified().facts(0), 0, seconds=300.0)],
    "is_no_bug": [
        lambda: ended(verified().facts(0), 0, stderr=_TRACEBACK),
        lambda: with_document(verified().facts(0), said(code=4)),
    ],
    "verified_is_complete": [_verified_without_pods, _verified_with_another_template],
    "verified_stands_as_written": [_verified_without_the_configuration],
    "set_that_served_stands": [
        _rolled_back_without_the_service,
        _rolled_back_over_a_foreign_key,
        _foreign_key_stops_the_rest,
        _a_bad_versions_configuration,
    ],
    "old_version_is_complete": [
        _old_version_without_pods,
        _old_version_broke_while_another_was_written,
        _kept_version_written_and_not_complete,
    ],
    "superseded_by_somebody": [
        lambda: verified().facts(8, performed=performed("set-image")),
        _superseded_and_taken_back,
    ],
    "nothing_written_over_others": [_superseded_and_taken_back, _deleted_and_created_again],
    "replicas_of_others_stand": [_scaled_and_overwritten],
    "refused_wrote_nothing": [_refused_after_a_write],
    "failed_version_stands": [_kept_and_taken_back],
    "never_a_mix_that_nobody_wrote": [_kept_in_part, _a_bad_versions_configuration],
    "one_way_back": [_verified_after_two_writes],
    "only_the_manifest_is_written": [
        lambda: verified().facts(0, requests=(write_of(_OTHER),)),
    ],
    "statement_is_true": [
        *(
            partial(_untrue, said((SETTINGS, action)))
            for action in ("unchanged", "restored", "deleted", "gone", "left")
        ),
        lambda: _untrue(said((SETTINGS, "changed")), _changed_by_others(None)),
        lambda: _untrue(
            said((SETTINGS, "changed"), code=143, state="unread"), _changed_by_others(None), 143
        ),
        lambda: _untrue(
            said((SETTINGS, "changed"), state="as-written"), _changed_by_others(_BY_HAND)
        ),
        lambda: _untrue(said((SETTINGS, "changed"), state="deleted")),
        lambda: _untrue(said((SETTINGS, "changed"), state="changed")),
        lambda: _untrue(said(running="new", code=4), rolled_back(), 4),
        lambda: with_document(
            verified().facts(5, performed=_FROZEN), said(running="baseline", code=5)
        ),
        lambda: _untrue(said(running="other")),
    ],
    "failure_is_no_pessimism": [
        lambda: rolled_back().facts(5, performed=_FROZEN),
        _failed_for_a_secret_that_others_changed_later,
    ],
    "lock_is_given_back": [
        lambda: _left(lease("vm 1")),
        lambda: _left(lease("", {"rollout-gate/attempt": "x"})),
        lambda: _left({"kind": "Secret", "metadata": {"name": LEASE.name}}),
    ],
    "next_apply_works": [
        lambda: verified().facts(0, next_apply=Result(("apply",), 3, "", "error: no", 1.0))
    ],
}
"""The attempts that break each invariant."""


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fact_breaks_its_invariant(name: str) -> None:
    """Each wrong fact is seen by the invariant that is about it."""
    assert [
        number for number, plant in enumerate(PLANTED[name]) if name not in names(plant())
    ] == []


def test_every_invariant_has_a_fact_that_breaks_it() -> None:
    """An invariant that cannot fail is worth nothing."""
    assert {each.__name__ for each in INVARIANTS} == set(PLANTED)


# -- where they say nothing ------------------------------------------------------------------------


def test_an_action_widens_what_may_come_of_it() -> None:
    """A pause may end with 6, a quota may fail a good version, and an early one may refuse."""
    paused = ended(verified().facts(0, performed=performed("pause")), 6)
    assert "ends_as_it_may" not in names(paused)
    denied = ended(rolled_back().facts(0, performed=performed("quota-created")), 4)
    assert "ends_as_it_may" not in names(denied)
    applied = performed("kubectl-applies-the-same-version", is_early=True)
    assert not broken(ended(begun().facts(0, performed=applied), 3))
    scaled = ended(begun().facts(0, performed=performed("scale-up", is_early=True)), 3)
    assert not broken(scaled)
    late = ended(verified().facts(0, performed=performed("scale-up")), 3)
    assert "ends_as_it_may" in names(late)


@pytest.mark.contract("B1860")
def test_what_nobody_read_again_after_a_signal_is_no_untrue_statement() -> None:
    """As long as the document says of that object that nobody did."""
    document = said((SETTINGS, "changed"), code=143, state="unread")
    named = f"configmap/{SETTINGS.name} was not read again after the last write of this run"
    other = named.replace(SETTINGS.name, "other")
    for warning, is_untrue in ((named, False), (other, True)):
        facts = _untrue({**document, "warnings": [warning]}, _changed_by_others(None), 143)
        assert ("statement_is_true" in names(facts)) is is_untrue


def test_a_recover_that_finds_nothing_to_finish_says_nothing_of_the_new_version() -> None:
    """After a kill exit 0 may mean that all is as it was before; a mix is not among it."""
    killed = performed("killed")
    assert not broken(ended(begun().facts(0, performed=killed), -9, 0))
    assert not broken(ended(rolled_back().facts(0, performed=killed), -9, 0))
    story = begun()
    story.apply(Writer.OURS, shop.NEW, only=[SETTINGS])
    assert "verified_is_complete" in names(ended(story.facts(0, performed=killed), -9, 0))


def test_what_others_hold_is_no_lock_of_ours() -> None:
    """A Lease that somebody else took stays theirs; a signal leaves the record open."""
    held = lease(FOREIGN_HOLDER, {"rollout-gate/attempt": "x"})
    kept = {"kind": "Secret", "metadata": {"name": LEASE.name}}
    assert not broken(superseded().facts(8, left=(held, kept), performed=performed("lease-taken")))
    recorded = lease("", {"rollout-gate/attempt": "x"})
    facts = verified().facts(0, left=(recorded,), performed=performed("terminated"))
    assert not broken(ended(facts, 143))


def test_a_failure_beside_a_kept_version_has_nowhere_to_return_to_once_forgotten() -> None:
    """The Lease, which others deleted before it was taken, had what was verified."""
    assert "ends_as_it_may" not in names(kept_and_forgotten(is_early=True))
