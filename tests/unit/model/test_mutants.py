"""Bugs that are planted in the core are found, each by the invariant that it breaks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.long import longer
from tests.model.scenes import scene
from tests.model.search import Bounds, search
from tests.model.world import Scene, plan_of
from tests.unit.model import mutants
from tests.unit.model.mutants import Plant

MUTANTS = [
    longer(mutants.live_template_unchecked, "good", "S1", 1, id="S1-live-template"),
    longer(
        mutants.live_unchecked_before_the_rollback,
        *("crashing", "S2", 1),
        id="S2-live-unchecked",
    ),
    pytest.param(mutants.journal_after_the_write, "good", "L2", 0, id="L2-journal-too-late"),
    longer(mutants.verdict_on_an_old_generation, "good", "S1", 1, id="S1-old-generation"),
    pytest.param(mutants.no_preconditions, "good", "S2", 1, id="S2-no-preconditions"),
    pytest.param(mutants.lost_lock_ignored, "good", "S2", 1, id="S2-lost-lock"),
    pytest.param(mutants.no_confirming_read, "good", "S1", 0, id="S1-no-confirming-read"),
    longer(mutants.lost_answer_taken_for_a_refusal, "good", "S1", 1, id="S1-lost-answer"),
    longer(mutants.own_rollback_not_known_again, "crashing", "S1", 1, id="S1-own-rollback"),
    longer(
        mutants.record_without_a_baseline,
        *("crashing", "S1", 1),
        id="S1-record-without-a-baseline",
    ),
    longer(
        mutants.recovery_takes_all_for_ours,
        *("good", "S1", 1),
        id="S1-recovery-takes-all-for-ours",
    ),
    pytest.param(
        mutants.foreign_key_keeps_the_whole_object,
        *("configured-crashing", "S9", 1),
        id="S9-foreign-key-keeps-all",
    ),
    longer(
        mutants.foreign_key_not_looked_for,
        *("configured-crashing", "S9", 1),
        id="S9-foreign-key-written-over",
    ),
    pytest.param(
        mutants.configuration_is_no_part_of_the_set,
        *("kept-crashing", "S9", 0),
        id="S9-configuration-no-part-of-the-set",
    ),
    pytest.param(
        mutants.what_was_verified_is_not_looked_for,
        *("kept-crashing", "L3", 0),
        id="L3-verified-not-looked-for",
    ),
    pytest.param(mutants.rollback_to_what_failed, "crashing", "S4", 0, id="S4-wrong-target"),
    pytest.param(mutants.blind_time_counts, "never-ready", "S8", 1, id="S8-blind-time-counts"),
    pytest.param(
        mutants.condition_believed_after_blindness,
        *("good", "S8", 1),
        id="S8-condition-after-blindness",
    ),
    pytest.param(
        mutants.queue_sent_after_a_failure,
        *("configured-last-crashing", "S10", 0),
        id="S10-queue-sent-after-a-failure",
    ),
    pytest.param(
        mutants.needs_not_waited_for,
        *("configured-once", "S12", 0),
        id="S12-needs-not-waited-for",
    ),
    pytest.param(
        mutants.failed_need_waited_for,
        *("configured-once-crashing", "S1", 0),
        id="S1-failed-need-waited-for",
    ),
    longer(
        mutants.queue_sent_after_a_refusal,
        *("configured", "S10", 1),
        id="S10-queue-sent-after-a-refusal",
    ),
    longer(
        mutants.unanswered_write_forgotten,
        *("good", "S11", 1),
        id="S11-unanswered-write-forgotten",
    ),
    longer(mutants.signal_ignored, "never-ready", "L1", 1, id="L1-signal-ignored"),
    pytest.param(mutants.never_gives_up, "good", "L1", 1, id="L1-never-gives-up"),
    pytest.param(
        mutants.last_look_without_an_end,
        *("first-deleted", "L1", 1),
        id="L1-last-look-without-an-end",
    ),
    pytest.param(
        mutants.blocker_left_in_place,
        *("ordered-crashing", "L2", 0),
        id="L2-blocker-left-in-place",
    ),
    pytest.param(
        mutants.removal_not_in_the_record,
        *("ordered-crashing", "L2", 0),
        id="L2-removal-not-in-the-record",
    ),
    pytest.param(
        mutants.blocked_pod_counted_as_replaced,
        *("ordered-crashing", "S1", 0),
        id="S1-blocked-pod-counted",
    ),
    pytest.param(
        mutants.ordered_counters_of_an_old_generation,
        *("ordered", "S1", 0),
        id="S1-ordered-old-generation",
    ),
    pytest.param(
        mutants.new_pod_taken_for_a_blocker,
        *("ordered-stuck", "S13", 0),
        id="S13-new-pod-taken-for-a-blocker",
    ),
    longer(
        mutants.blocker_not_looked_at_again,
        *("ordered-crashing", "S13", 1),
        id="S13-blocker-not-looked-at-again",
    ),
    longer(
        mutants.removal_without_the_lock,
        *("ordered-crashing", "S2", 1),
        id="S2-removal-without-the-lock",
    ),
    pytest.param(mutants.forgotten_alarm, "good", "L1", 0, id="L1-forgotten-alarm"),
]


@pytest.fixture(autouse=True)
def plans_made_afresh() -> Iterator[None]:
    """Plans are remembered by the cluster that they were made for, not by the bug planted then."""
    plan_of.cache_clear()
    yield
    plan_of.cache_clear()


@pytest.mark.contract("B554")
@pytest.mark.parametrize(("plant", "name", "invariant", "deviations"), MUTANTS)
def test_a_planted_bug_is_found(
    plant: Plant,
    name: str,
    invariant: str,
    deviations: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first counterexample names the invariant, and deviates no more often than it must."""
    plant(monkeypatch)
    found = list(_found(scene(name), deviations))
    assert found, "nothing was found"
    what, times = found[0]
    assert what.startswith(f"{invariant}: ")
    assert times == deviations


def _found(where: Scene, deviations: int) -> list[tuple[str, int]]:
    visited = search(where, Bounds(deviations=deviations), to_the_first=True)
    return [
        (one.what, sum(choice > 0 for choice in one.course)) for one in visited.violations.values()
    ]
