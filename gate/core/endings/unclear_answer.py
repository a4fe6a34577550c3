"""Names what the server answered to a write of which nobody knows whether it was done.

An ending that says that an answer was lost is true only where none came: an error is the server's
word on why a write was not done, as of a webhook that is down, and what has to be mended.
"""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import Trigger
from gate.core.endings.unwritten import describe_open_write, find_error
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.rollout.causes import Cause
from gate.core.writes.order import answers_lost

_UNDONE = (Trigger.LOST, Trigger.INTERRUPTED)
"""What ends a way back before all of it is written."""


def with_answer(attempt: Attempt, trigger: Trigger, ending: Ending) -> Ending:
    """Return the ending of a workload, or of the whole, with the server's errors to writes.

    Of a way back that was not written to its end they are a cause besides.
    """
    open_refs = [one for one in answers_lost(attempt) if find_error(attempt, one)]
    if not open_refs:
        return ending
    if trigger is Trigger.REJECTED and ending.outcome is Outcome.LOST_CONTACT:
        doubt = attempt.requests.doubts[open_refs[0]]
        said = f"{attempt.plan.name_of(open_refs[0])}: {doubt.describe()}"
        return replace(ending, message=CleanText(f"{said}; nothing shows that the write was done"))
    if trigger in _UNDONE and attempt.course.leg is Leg.BACK:
        said_of = (describe_open_write(attempt, ref) for ref in open_refs)
        causes = (Cause(Reason.UNREACHABLE, CleanText(said)) for said in said_of)
        return replace(ending, causes=(*ending.causes, *causes))
    return ending
