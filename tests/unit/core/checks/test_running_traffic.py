"""What a running version has counted within the last hour, or why that cannot be used."""

from __future__ import annotations

import pytest

from gate.core.checks.measurement import Measurement
from gate.core.checks.query_template import Query
from gate.core.checks.questions import Counted, Form, Samples, Series
from gate.core.checks.running_traffic import MeasuredTraffic, add_traffic, read_traffic
from gate.core.checks.spec import Counts
from gate.core.checks.tick_questions import STEP_SECONDS
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.statistics.count_decision import CountRule

SEEN = Samples(Form.VECTOR, (Series(60.0),))


def counted(**grown: float) -> Samples:
    """Return increases by what they count."""
    series = (Series(value, counted=Counted(name)) for name, value in grown.items())
    return Samples(Form.VECTOR, tuple(series))


@pytest.mark.parametrize(
    ("bad_query", "grown", "found"),
    [
        (
            "bad",
            counted(bad=2.0, total=600.0),
            MeasuredTraffic(("v",), 2.0, 600.0, 60 * STEP_SECONDS),
        ),
        ("bad", counted(total=600.0), MeasuredTraffic(("v",), 0.0, 600.0, 60 * STEP_SECONDS)),
        ("all - good", counted(total=600.0), "no series"),
        ("bad", counted(bad=601.0, total=600.0), "601"),
        ("bad", counted(bad=2.0), "no traffic"),
    ],
)
def test_only_counters_that_a_comparison_could_use_say_what_traffic_there_is(
    bad_query: str, grown: Samples, found: MeasuredTraffic | str
) -> None:
    """A computed `bad` that is missing is unknown, and no more can be bad than there are."""
    bad, total = (Query.parse(text, BUILT_IN) for text in (bad_query, "all"))
    read = read_traffic(Counts(bad, total, CountRule(known_length=True)), "v", grown, SEEN)
    if isinstance(read, MeasuredTraffic):
        read = add_traffic([read])
    if isinstance(found, MeasuredTraffic):
        assert read == found
    else:
        assert isinstance(read, Measurement)
        assert found in str(read)
