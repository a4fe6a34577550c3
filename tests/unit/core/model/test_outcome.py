"""Outcomes, their exit codes and reasons: what a pipeline branches on."""

from __future__ import annotations

import itertools
import re

import pytest

from gate.core.kinds.registry import all_reasons, reason_of
from gate.core.model.outcome import EXIT_CODES, Outcome, Reason, worst

WORST_FIRST = (1, 5, 9, 6, 2, 3, 8, 4, 7, 0)


@pytest.mark.contract("B37")
def test_every_outcome_has_its_exit_code() -> None:
    """No outcome is without a code but the interrupted, whose code tells the signal."""
    assert set(Outcome) - set(EXIT_CODES) == {Outcome.INTERRUPTED}
    told_apart = {code for outcome, code in EXIT_CODES.items() if outcome is not Outcome.OBSERVED}
    assert told_apart == set(range(10))


@pytest.mark.contract("B37")
def test_of_several_outcomes_the_worst_counts() -> None:
    """A sibling's success never hides a failure: 1, 5, 9, 6, 2, 3, 8, 4, 7, 0."""
    by_code = {code: outcome for outcome, code in EXIT_CODES.items() if code in WORST_FIRST}
    by_code[0] = Outcome.VERIFIED
    for bad, better in itertools.combinations(WORST_FIRST, 2):
        assert worst([by_code[better], by_code[bad], by_code[better]]) is by_code[bad]


def test_no_deployment_is_verified() -> None:
    """A manifest without a Deployment has nothing that could have failed."""
    assert worst([]) is Outcome.VERIFIED


@pytest.mark.contract("B37")
@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_its_rank(outcome: Outcome) -> None:
    """A recovery may end as any of them."""
    assert worst([outcome]) is outcome


@pytest.mark.contract("B37")
def test_reasons_are_stable_words() -> None:
    """CamelCase throughout, so that a pipeline can compare them."""
    assert all(re.fullmatch(r"([A-Z][a-z]+)+", reason) for reason in all_reasons())
    assert all(reason_of(reason.value) is reason for reason in (*Reason, *all_reasons()))
