"""The invariants of disturbed attempts: good ends keep them all, and each sees what breaks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.bed.invariants import Key
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


def test_a_change_after_the_last_read_is_no_fault_of_the_verdict() -> None:
    """What was complete when it was read last may be anything a moment later."""
    for story, code in ((verified(), 0), (rolled_back(), 4)):
        read_at = story.now()
        story.write(Writer.OTHERS, WEB, by_hand(story))
        facts = story.facts(code)
        assert not broken(replace(facts, ended=replace(facts.ended, last_read_at={WEB: read_at})))


def test_a_version_before_that_was_verified_may_come_back_as_a_whole() -> None:
    """After a bad version that was kept, all of version 1 is what exit 4 returns to."""
    story = begun()
    story.apply(Writer.BEFORE, shop.KEPT)
    story.apply(Writer.OURS, shop.NEW)
    story.apply(Writer.OURS, 1)
    assert not broken(story.facts(4, trial=trial(is_good=False, start=Start.KEPT)))


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


def _exit_that_nothing_leads_to() -> Facts:
    return ended(rolled_back().facts(0), 4)


def _too_late() -> Facts:
    return ended(verified().facts(0), 0, seconds=300.0)


def _traceback() -> Facts:
    return ended(verified().facts(0), 0, stderr="Traceback (most recent call last):\n")


def _document_of_another_code() -> Facts:
    return with_document(verified().facts(0), said(code=4))


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


def _superseded_by_nobody() -> Facts:
    return verified().facts(8, performed=performed("set-image"))


def _superseded_and_taken_back() -> Facts:
    story = superseded()
    story.apply(Writer.OURS, 1, only=[WEB])
    return story.facts(8, performed=performed("set-image"))


def _deleted_and_created_anew() -> Facts:
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


def _a_write_elsewhere() -> Facts:
    return verified().facts(0, requests=(write_of(web(name="other")),))


def _a_bad_versions_configuration() -> Facts:
    """The Deployment goes back to what was verified, the rest to the bad version before."""
    story = begun()
    story.apply(Writer.BEFORE, shop.KEPT)
    story.apply(Writer.OURS, shop.NEW)
    story.apply(Writer.OURS, shop.KEPT, only=[SETTINGS, KEYS, SERVICE])
    story.apply(Writer.OURS, 1, only=[WEB])
    return story.facts(4, trial=trial(is_good=False, start=Start.KEPT))


def _untrue(action: str, key: Key = SETTINGS) -> Facts:
    return with_document(verified().facts(0), said((key, action)))


def _said_changed_of_what_is_deleted() -> Facts:
    story = verified()
    story.write(Writer.OTHERS, SETTINGS, None)
    return with_document(story.facts(0), said((SETTINGS, "changed")))


def _said_gone_of_what_is_there() -> Facts:
    return with_document(verified().facts(0), said((SETTINGS, "gone")))


def _said_left_of_what_nobody_changed() -> Facts:
    return with_document(verified().facts(0), said((SETTINGS, "left")))


def _said_as_written_of_what_others_changed() -> Facts:
    story = verified()
    story.change(Writer.OTHERS, SETTINGS, data={shop.VERSION: "hand", "mode": "mode-2"})
    return with_document(story.facts(0), said((SETTINGS, "changed"), state="as-written"))


def _said_deleted_of_what_is_there() -> Facts:
    return with_document(verified().facts(0), said((SETTINGS, "changed"), state="deleted"))


def _said_changed_since_of_what_nobody_changed() -> Facts:
    return with_document(verified().facts(0), said((SETTINGS, "changed"), state="changed"))


def _said_new_of_the_old() -> Facts:
    return with_document(rolled_back().facts(4), said(running="new", code=4))


def _said_baseline_of_the_new() -> Facts:
    facts = verified().facts(5, performed=performed("config-map-made-immutable"))
    return with_document(facts, said(running="baseline", code=5))


def _said_other_of_ours() -> Facts:
    return with_document(verified().facts(0), said(running="other"))


def _failed_though_all_went_back() -> Facts:
    return rolled_back().facts(5, performed=performed("config-map-made-immutable"))


def _failed_for_a_secret_that_others_changed_later() -> Facts:
    """The attempt had read the Secret as it was verified, and could have returned it."""
    story = verified()
    story.write(Writer.OTHERS, KEYS, {**shop.version(shop.THIRD)[1]})
    story.apply(Writer.OURS, 1, only=[SETTINGS, SERVICE, WEB])
    return story.facts(5, trial=trial(is_good=False, start=Start.KEPT_WITH_SECRET))


def _refused_after_all_was_written() -> Facts:
    return verified().facts(3, performed=performed("kubectl-applies-the-same-version"))


def _lease(holder: str, annotations: JSON | None = None) -> JSON:
    metadata = {"name": LEASE.name, "annotations": annotations or {}}
    return {"kind": "Lease", "metadata": metadata, "spec": {"holderIdentity": holder}}


def _lock_that_is_held() -> Facts:
    return verified().facts(0, left=(_lease("vm 1"),))


def _record_that_is_open() -> Facts:
    return verified().facts(0, left=(_lease("", {"rollout-gate/attempt": "x"}),))


def _secret_that_is_left() -> Facts:
    secret = {"kind": "Secret", "metadata": {"name": LEASE.name}}
    return verified().facts(0, left=(secret,))


def _next_apply_that_is_refused() -> Facts:
    return verified().facts(0, next_apply=Result(("apply",), 3, "", "error: no", 1.0))


PLANTED = [
    ("ends_as_it_may", _exit_that_nothing_leads_to),
    ("ends_as_it_may", _refused_after_all_was_written),
    ("ends_in_time", _too_late),
    ("is_no_bug", _traceback),
    ("is_no_bug", _document_of_another_code),
    ("verified_is_complete", _verified_without_pods),
    ("verified_is_complete", _verified_with_another_template),
    ("verified_stands_as_written", _verified_without_the_configuration),
    ("set_that_served_stands", _rolled_back_without_the_service),
    ("set_that_served_stands", _rolled_back_over_a_foreign_key),
    ("set_that_served_stands", _foreign_key_stops_the_rest),
    ("old_version_is_complete", _old_version_without_pods),
    ("old_version_is_complete", _old_version_broke_while_another_was_written),
    ("old_version_is_complete", _kept_version_written_and_not_complete),
    ("superseded_by_somebody", _superseded_by_nobody),
    ("superseded_by_somebody", _superseded_and_taken_back),
    ("nothing_written_over_others", _superseded_and_taken_back),
    ("nothing_written_over_others", _deleted_and_created_anew),
    ("replicas_of_others_stand", _scaled_and_overwritten),
    ("refused_wrote_nothing", _refused_after_a_write),
    ("failed_version_stands", _kept_and_taken_back),
    ("never_a_mix_that_nobody_wrote", _kept_in_part),
    ("one_way_back", _verified_after_two_writes),
    ("only_the_manifest_is_written", _a_write_elsewhere),
    ("never_a_mix_that_nobody_wrote", _a_bad_versions_configuration),
    ("set_that_served_stands", _a_bad_versions_configuration),
    ("statement_is_true", lambda: _untrue("unchanged")),
    ("statement_is_true", lambda: _untrue("restored")),
    ("statement_is_true", lambda: _untrue("deleted")),
    ("statement_is_true", _said_changed_of_what_is_deleted),
    ("statement_is_true", _said_gone_of_what_is_there),
    ("statement_is_true", _said_left_of_what_nobody_changed),
    ("statement_is_true", _said_as_written_of_what_others_changed),
    ("statement_is_true", _said_deleted_of_what_is_there),
    ("statement_is_true", _said_changed_since_of_what_nobody_changed),
    ("statement_is_true", _said_new_of_the_old),
    ("statement_is_true", _said_baseline_of_the_new),
    ("statement_is_true", _said_other_of_ours),
    ("failure_is_no_pessimism", _failed_though_all_went_back),
    ("failure_is_no_pessimism", _failed_for_a_secret_that_others_changed_later),
    ("lock_is_given_back", _lock_that_is_held),
    ("lock_is_given_back", _record_that_is_open),
    ("lock_is_given_back", _secret_that_is_left),
    ("next_apply_works", _next_apply_that_is_refused),
]


@pytest.mark.parametrize(
    ("name", "plant"), [pytest.param(*each, id=f"{each[0]}-{each[1].__name__}") for each in PLANTED]
)
def test_a_planted_fact_breaks_its_invariant(name: str, plant: Callable[[], Facts]) -> None:
    """Each wrong fact is seen by the invariant that is about it."""
    assert name in names(plant())


def test_every_invariant_has_a_fact_that_breaks_it() -> None:
    """An invariant that cannot fail is worth nothing."""
    assert {each.__name__ for each in INVARIANTS} == {name for name, _ in PLANTED}


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
    held = _lease(FOREIGN_HOLDER, {"rollout-gate/attempt": "x"})
    kept = {"kind": "Secret", "metadata": {"name": LEASE.name}}
    assert not broken(superseded().facts(8, left=(held, kept), performed=performed("lease-taken")))
    recorded = _lease("", {"rollout-gate/attempt": "x"})
    facts = verified().facts(0, left=(recorded,), performed=performed("terminated"))
    assert not broken(ended(facts, 143))
