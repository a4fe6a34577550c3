"""What a pipeline branches on, outcomes, reasons and signals; and shares of pods."""

from __future__ import annotations

import itertools
import re
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.core.kinds.registry import all_reasons, reason_of
from gate.core.model.int_or_percent import Share
from gate.core.model.outcome import EXIT_CODES, Outcome, Reason, worst
from gate.core.model.signal_names import NAMES, signal_name
from gate.signals import ENDING_SIGNALS

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


@pytest.mark.contract("B29")
@pytest.mark.parametrize("number", sorted({*NAMES, *ENDING_SIGNALS}))
def test_a_signal_is_called_as_the_system_calls_it(number: int) -> None:
    """Those that end a run, and those that commonly end a command."""
    assert signal_name(number) == signal.Signals(number).name


def test_a_signal_without_a_name_is_called_by_its_number() -> None:
    """A real-time signal, and what a report of another version says."""
    assert signal_name(63) == "signal 63"


@pytest.mark.contract("B181")
@pytest.mark.parametrize(
    ("value", "share"),
    [
        (3, Share(3)),
        ("3", Share(3)),
        (" 3 ", Share(3)),
        (0, Share(0)),
        ("25%", Share(25, percent=True)),
        ("150%", Share(150, percent=True)),
        (2**31 - 1, Share(2**31 - 1)),
    ],
)
def test_counts_and_shares_are_read(value: int | str, share: Share) -> None:
    """`3` is a count, `25%` a share; a Deployment's maxSurge may be over 100 %."""
    assert Share.parse(value) == share
    assert Share.parse(str(share)) == share


@pytest.mark.contract("B181")
@pytest.mark.parametrize("value", ["", "-1", "25 %", "%", "2.5", "50%%", "٣", "1e3", -1, 2**31])
def test_anything_else_is_a_value_error(value: int | str) -> None:
    """The message names the value and shows both forms."""
    with pytest.raises(ValueError, match=r"is neither a count \(3\) nor a share \(25%\)$"):
        Share.parse(value)


@pytest.mark.parametrize(
    ("value", "total", "up", "down"),
    [("25%", 4, 1, 1), ("25%", 5, 2, 1), ("25%", 1, 1, 0), ("0%", 9, 0, 0), (3, 2, 3, 3)],
)
def test_shares_round_as_the_deployment_controller_does(
    value: int | str, total: int, up: int, down: int
) -> None:
    """A surge is rounded up, what may be unavailable down, and a count is itself."""
    share = Share.parse(value)
    assert share.of(total, round_up=True) == up
    assert share.of(total, round_up=False) == down


@given(st.integers(0, 10**6), st.integers(0, 2**31 - 1))
def test_rounding_is_exact(percent: int, total: int) -> None:
    """Up and down differ by one exactly where the share is no whole number of pods."""
    share = Share(percent, percent=True)
    up, down = share.of(total, round_up=True), share.of(total, round_up=False)
    assert down * 100 <= percent * total <= up * 100
    assert up - down == (percent * total % 100 != 0)
