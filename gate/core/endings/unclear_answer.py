"""Names what the server answered to a write of which nobody knows whether it was done.

An ending that says that an answer was lost is true only where none came: an error is the server's
word on why a write was not done, as of a webhook that is down, and what has to be mended.
"""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import Trigger
from gate.core.endings.rollback_ending import refusal_cause
from gate.core.endings.unwritten import find_error
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome
from gate.core.plan.leg import Leg
from gate.core.writes.obstacles import give_up_on_errors
from gate.core.writes.order import answers_lost

_UNDONE = (Trigger.LOST, Trigger.INTERRUPTED)
"""What ends a way back before all of it is written."""


def with_answer(attempt: Attempt, trigger: Trigger, ending: Ending) -> Ending:
    """Return the ending of a workload, or of the whole, with the server's errors to writes.

    Of a way back that was not written to its end they are a cause besides.
    """
    open_ref = next((one for one in answers_lost(attempt) if find_error(attempt, one)), None)
    if open_ref is None:
        return ending
    doubt = attempt.requests.doubts[open_ref]
    if trigger is Trigger.REJECTED and ending.outcome is Outcome.LOST_CONTACT:
        said = f"{attempt.plan.name_of(open_ref)}: {doubt.describe()}"
        return replace(ending, message=CleanText(f"{said}; nothing shows that the write was done"))
    if trigger in _UNDONE and attempt.course.leg is Leg.BACK:
        cause = refusal_cause(attempt.plan, give_up_on_errors(attempt, open_ref))
        return replace(ending, causes=(*ending.causes, cause))
    return ending
