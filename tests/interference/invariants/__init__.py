"""What has to hold of an attempt that others disturbed, told from what the API server has of it.

Each invariant is a function of the facts that yields a sentence for whatever breaks it. The facts
are versions of objects and who wrote them; of the gate's own words only the exit code and the
statements of its document are looked at, and these are what is held against the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tests.interference.facts import Facts
from tests.interference.invariants.statements import statement_is_true
from tests.interference.invariants.verdicts import (
    ends_as_it_may,
    ends_in_time,
    failed_version_stands,
    failure_is_no_pessimism,
    is_no_bug,
    old_version_is_complete,
    refused_wrote_nothing,
    set_that_served_stands,
    superseded_by_somebody,
    verified_is_complete,
    verified_stands_as_written,
)
from tests.interference.invariants.writes import (
    lock_is_given_back,
    never_a_mix_that_nobody_wrote,
    next_apply_works,
    nothing_written_over_others,
    one_way_back,
    only_the_manifest_is_written,
    replicas_of_others_stand,
)

Invariant = Callable[[Facts], Iterator[str]]

INVARIANTS: tuple[Invariant, ...] = (
    ends_as_it_may,
    ends_in_time,
    is_no_bug,
    verified_is_complete,
    verified_stands_as_written,
    set_that_served_stands,
    old_version_is_complete,
    superseded_by_somebody,
    nothing_written_over_others,
    replicas_of_others_stand,
    refused_wrote_nothing,
    failed_version_stands,
    one_way_back,
    only_the_manifest_is_written,
    never_a_mix_that_nobody_wrote,
    statement_is_true,
    failure_is_no_pessimism,
    lock_is_given_back,
    next_apply_works,
)


OF_ANY_GATE = tuple(
    each
    for each in INVARIANTS
    if each not in (ends_as_it_may, lock_is_given_back, next_apply_works)
)
"""What holds of every attempt of a trial; the others are asked once."""


def broken(facts: Facts, invariants: Iterable[Invariant] = INVARIANTS) -> list[str]:
    """Return what is wrong with an attempt, each with the name of the invariant."""
    return [f"{each.__name__}: {wrong}" for each in invariants for wrong in each(facts)]
