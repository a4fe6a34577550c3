"""What checks were answered, written into a recording and read again."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.core.checks.questions import (
    Answers,
    Counted,
    Errored,
    Exit,
    Form,
    HttpReply,
    NoReply,
    Samples,
    Series,
    Trouble,
)
from gate.core.checks.tick_grid import Tick
from gate.core.model.objects import CleanText
from gate.wire import measurements
from gate.wire.measurements import Measured
from gate.wire.untrusted import clean, clean_line

TICK = Tick(3, 30.5)

lines = st.text(max_size=60).map(clean_line)
numbers = st.floats()
samples = st.builds(
    Samples,
    st.sampled_from(Form),
    st.lists(
        st.builds(Series, numbers, lines)
        | st.builds(Series, numbers, lines, st.sampled_from(Counted), lines, lines),
        max_size=4,
    ).map(tuple),
    st.lists(lines, max_size=3).map(tuple),
)
answers_of_one = st.one_of(
    samples,
    st.builds(HttpReply, st.integers(100, 599), numbers, st.none() | st.booleans(), numbers, lines),
    st.builds(HttpReply, st.integers(100, 599), numbers),
    st.builds(NoReply, lines),
    st.builds(Exit, st.none() | st.integers(-64, 255), st.text(max_size=200).map(clean)),
)
optional = st.none() | answers_of_one
answers = st.builds(Answers, answers_of_one, optional, optional, optional)
position = st.none() | st.tuples(st.integers(1, 99), st.integers(1, 99))
errors = st.builds(Errored, lines, st.sampled_from(Trouble), lines, position, st.none() | numbers)


def there_and_back(said: Answers | Errored) -> Measured:
    """Write a measurement as a line holds it, and read it."""
    body = measurements.encode("errors", TICK, said, mask=str)
    return measurements.decode(31.0, msgspec.json.encode(body))


@pytest.mark.contract("B465")
@given(answers | errors)
def test_what_was_answered_is_read_as_it_was(said: Answers | Errored) -> None:
    """Every answer and every error, infinities and NaN among the numbers."""
    found = there_and_back(said)
    assert (found.at, found.check, found.tick) == (31.0, "errors", TICK)
    assert repr(found.said) == repr(said), "repr, since NaN equals nothing"


@pytest.mark.contract("B1163")
def test_counters_are_told_apart_in_a_recording() -> None:
    """By what they count, their identity and their pod; other series have none, as before."""
    series = (
        Series(3.0, CleanText("{a}"), Counted.BAD, "0a", "web-1"),
        Series(9.0, CleanText("{a}"), Counted.TOTAL, "0b"),
        Series(1.0),
    )
    said = Answers(Samples(Form.VECTOR, series))
    assert there_and_back(said).said == said
    body = measurements.encode("errors", TICK, said, mask=str)
    assert body["said"]["value"]["series"][2] == {"value": 1.0}


@pytest.mark.contract("B465")
def test_what_somebody_wrote_into_a_recording_is_cleaned() -> None:
    """It is external text as any other."""
    said = Errored(CleanText("a\x1b[31mb\u202e"), Trouble.TIMED_OUT, hint="::error::c")
    found = there_and_back(said)
    assert isinstance(found.said, Errored)
    assert (found.said.why, found.said.hint) == ("ab", ": :error::c")


BAD = {
    "no number": {"value": {"kind": "samples", "form": "vector", "series": [{"value": "1e5"}]}},
    "no form": {"value": {"kind": "samples", "form": "table"}},
    "no kind": {"value": {"kind": "guess"}},
    "no value": {"samples": {"kind": "exit", "code": 0}},
    "too much": {
        "value": {
            "kind": "samples",
            "form": "vector",
            "series": [{"value": 0.0}] * (measurements.MOST_SERIES + 1),
        }
    },
}


@pytest.mark.contract("B465")
@pytest.mark.parametrize("said", BAD.values(), ids=BAD)
def test_what_is_no_measurement_is_refused(said: dict[str, Any]) -> None:
    """A ValueError, to which the reader adds file and line."""
    tick = {"number": 0, "at": 0.0}
    body = {"check": "errors", "tick": tick, "said": {"kind": "answers", **said}}
    with pytest.raises(ValueError, match=r"\S"):
        measurements.decode(0.0, msgspec.json.encode(body))
