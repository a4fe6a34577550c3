"""A trial of the checks before the first write: each is asked once, of the version that serves.

A fault in a query refuses the attempt (exit 2), and so does what permanently keeps the server from
answering (exit 3); what may be different in a minute is a warning. An HTTP check that fails before
anything is written is a warning: its URL may be wrong, and would fail any new version. With
`--strict-checks` what was not tried, or cannot pass as things are, is refused (exit 3). If nothing
serves yet, the gate only connects to its service, without a request. Command checks are not run:
they may change what they look at, while GET and HEAD are safe methods (RFC 9110, 9.2.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from gate.app.command_context import CommandContext
from gate.app.preflight.check_flags import check_flags, secret_variables
from gate.app.preflight.check_subjects import UnfitChecks, namespace_of, ref_of, require_askable
from gate.app.preflight.single_questions import BEGUN_SECONDS_AGO, Job, ask_all, job
from gate.app.runtime.console import Console
from gate.app.runtime.session import Session
from gate.config import Settings
from gate.config.limits import all_checks
from gate.core.checks.measurement import Kind
from gate.core.checks.query_variables import Subject, Version
from gate.core.checks.questions import Questions
from gate.core.checks.spec import Check, Counts, Http, without_comparison
from gate.core.frozen import dataclass
from gate.core.kinds.check_variables import is_measured, variables_of
from gate.core.model.fact import Known
from gate.core.model.outcome import Reason
from gate.core.plan.plan import Target
from gate.core.rollout.baseline import find_most_available
from gate.errors import RefusedError
from gate.report.check_report.asked_check import AskedCheck, parts
from gate.report.check_report.query_pointer import list_queries, question_text, show_queries
from gate.side_by_side import each

TRIAL_SECONDS: Final = 30.0
"""No check is started later than this; each ends by the limits of its source."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """A check with its questions; `serves` says whether there is a version for it to see."""

    check: Check
    job: Job
    serves: bool


def try_checks(
    context: CommandContext, targets: Sequence[Target], *, is_under_way: bool = False
) -> None:
    """Find every fault of the checks that can be found; announce what each asks. Writes nothing.

    With `is_under_way` HTTP checks are not asked: nobody can tell which version would answer.
    Raises UnfitChecks for faults of the checks, RefusedError if they cannot be asked.
    """
    session, settings, console = context.session, context.settings, context.console
    checks = all_checks(settings)
    console.check_flags = check_flags(settings)
    console.check_variables = secret_variables(settings)
    targets = [target for target in targets if is_measured(target.ref)]
    require_askable(checks, [target.ref for target in targets])
    trials = [_trial(session, check, targets) for check in checks]
    for trial in trials:
        _announce(trial, console)
    asked = [trial for trial in trials if _is_asked(trial, is_under_way=is_under_way)]
    _warn_of_unreachable(session, [trial.check for trial in trials if trial not in asked], console)
    jobs = [trial.job for trial in asked]
    announced: set[str] = set()
    session.sources.announce_retries(partial(_note_retry, console, announced))
    answers = ask_all(session.sources, session.clock, jobs, TRIAL_SECONDS)
    session.sources.announce_retries(lambda _: None)
    _judge(list(zip(asked, answers, strict=True)), settings, console)


def _is_asked(trial: _Trial, *, is_under_way: bool) -> bool:
    probe = trial.check.probe
    return bool(trial.check.queries) or (
        isinstance(probe, Http) and trial.serves and not is_under_way
    )


def _trial(session: Session, check: Check, targets: Sequence[Target]) -> _Trial:
    refs = [target.ref for target in targets]
    ref = ref_of(check, refs)
    namespace = namespace_of(check, refs, session.namespace)
    target = next((target for target in targets if target.ref == ref), None)
    at = session.clock.now()
    about = "" if ref is None else str(ref)
    # Compared with itself the serving version would always pass: what counts is that it is seen.
    alone = without_comparison(check)
    subject = _subject(namespace, target, at)
    return _Trial(check, job(alone, about, subject, at), _serves(target, targets))


def _serves(target: Target | None, targets: Sequence[Target]) -> bool:
    """Tell whether a version serves that a check of `target`, or of no single target, can see."""
    seen = targets if target is None else (target,)
    return not seen or any(map(_has_served, seen))


def _has_served(target: Target) -> bool:
    is_known = isinstance(target.baseline, Known)
    return is_known or find_most_available(target.snapshot) is not None


def _subject(namespace: str, target: Target | None, at: float) -> Subject:
    """Return the version that serves in place of the new one, as if it had been there for long.

    If none serves, use a name that no pods have: the server still checks the query's syntax.
    """
    name = "" if target is None else target.ref.name
    version, revision = Version(), None
    if target is not None:
        version, revision = Version(f"{name}-0", "0"), 1
    if target is not None and isinstance(target.baseline, Known):
        served = target.baseline.value
        version, revision = Version(served.revision_name, served.label_value), served.revision
    most = None if target is None else find_most_available(target.snapshot)
    if most is not None:
        version, revision = Version(most.name, most.label_value), most.revision
    return Subject(
        namespace,
        name,
        version,
        at - BEGUN_SECONDS_AGO,
        version,
        revision,
        -math.inf,
        variables=variables_of(() if target is None else (target.ref,)),
    )


def _announce(trial: _Trial, console: Console) -> None:
    """Announce what will be asked, with current values; before any version serves, as written."""
    check, questions = trial.check, trial.job.questions
    if not isinstance(questions, Questions):
        return
    if check.queries and not trial.serves:
        _note(console, check.name, check.queries[0].text)
        return
    for role, question in parts(questions):
        name = check.name if role == "value" else f"{check.name}, {role}"
        for key, query in list_queries(question_text(question)):
            _note(console, f"{name}, {key}" if key else name, query)


def _warn_of_unreachable(session: Session, checks: Sequence[Check], console: Console) -> None:
    """Connect to the services of HTTP checks, without a request; warn if that fails."""
    services = [check for check in checks if isinstance(check.probe, Http)]

    def reach(check: Check) -> str:
        probe = check.probe
        return session.sources.reach(probe.question) if isinstance(probe, Http) else ""

    for check, why in zip(services, each(session.clock, reach, services), strict=True):
        if why:
            console.warn(f"check {check.name}: {why}")


def _note_retry(console: Console, announced: set[str], text: str) -> None:
    """Announce that a server is asked again, once for all checks that wait for it alike."""
    if text not in announced:
        announced.add(text)
        console.note("check", text)


def _note(console: Console, name: str, text: str) -> None:
    """Announce it in one line, even if the query has several."""
    console.note("check", f"{name}: {' '.join(text.split())}")


# -- results ---------------------------------------------------------------------------------------


def _judge(tried: list[tuple[_Trial, AskedCheck]], settings: Settings, console: Console) -> None:
    """Warn of what may go away; raise what will not, all problems at once."""
    for trial, asked in tried:
        for warning in _warnings(trial, asked, settings):
            console.warn(warning)
        if isinstance(trial.check.probe, Counts) and asked.measurement.kind is Kind.PASS:
            _note(console, trial.check.name, asked.measurement.message)
    deciding = [(trial, asked) for trial, asked in tried if trial.check.decides]
    queries = [asked for trial, asked in deciding if trial.check.queries]
    wrong = [asked for asked in queries if is_unfit(asked)]
    if wrong:
        raise UnfitChecks([(complaint(asked), "\n".join(_pointer(asked))) for asked in wrong])
    barred = [asked for asked in queries if asked.measurement.permanent]
    if barred:
        raise _refusal(barred)
    doomed = [one for one in deciding if _why_it_cannot_pass(*one)]
    if doomed and settings.strict_checks:
        hint = "correct the check, mend the way to what it asks, or drop --strict-checks"
        message = "; ".join(_why_it_cannot_pass(*one) for one in doomed)
        kinds = [asked.measurement.kind for _, asked in doomed]
        raise RefusedError(message, reason=_reason_of(kinds), hint=hint)


def _reason_of(kinds: Sequence[Kind]) -> Reason:
    """Return one reason for several answers: a failure outweighs an error, an error no data."""
    if Kind.FAIL in kinds:
        return Reason.CHECK_FAILED
    return Reason.CHECK_ERROR if Kind.ERROR in kinds else Reason.CHECK_INCONCLUSIVE


def is_unfit(asked: AskedCheck) -> bool:
    """Tell whether the check itself is wrong, not the path to its server."""
    if asked.error is not None:
        return asked.error.usage
    return asked.measurement.permanent


def complaint(asked: AskedCheck) -> str:
    """Say what is wrong with a check or its server, in one line."""
    role = asked.error_role
    of = f", {role}" if role not in ("", "value") else ""
    return f"check {asked.check.name}{of}: {asked.measurement.message}"


def _pointer(asked: AskedCheck) -> Iterator[str]:
    """Yield the lines of the wrong query, with the place of the mistake marked below."""
    position = asked.error.position if asked.error is not None else None
    for role, question in parts(asked.questions) if asked.questions else ():
        if role == (asked.error_role or "value"):
            for key, lines in show_queries(question_text(question), position):
                yield f"{key or 'the query'} of check {asked.check.name} is"
                yield from lines


def _refusal(barred: list[AskedCheck]) -> RefusedError:
    hints = (asked.error.hint for asked in barred if asked.error is not None)
    message = "; ".join(dict.fromkeys(map(complaint, barred)))
    return RefusedError(message, reason=Reason.CHECK_ERROR, hint=next(filter(None, hints), ""))


def _warnings(trial: _Trial, asked: AskedCheck, settings: Settings) -> Iterator[str]:
    name, found = trial.check.name, asked.measurement
    doomed = _why_it_cannot_pass(trial, asked)
    if doomed:
        if not (settings.strict_checks and trial.check.decides):
            yield doomed
        return
    if trial.check.compares and not trial.serves:
        yield (
            f"check {name} compares with the version that serves, and there is none: "
            "it will be inconclusive"
        )
    match found.kind:
        case Kind.ERROR if not trial.check.decides:
            yield complaint(asked)
        case Kind.FAIL if trial.serves:
            yield f"check {name}: the running version violates it already: {found.message}"
        case _:
            return


def _why_it_cannot_pass(trial: _Trial, asked: AskedCheck) -> str:
    """Return why a check cannot pass as things are, "" if it may.

    Its query is not answered, or sees no data of the serving version, or that fails at its URL.
    """
    name, found = asked.check.name, asked.measurement
    if trial.check.queries and found.kind is Kind.ERROR and not found.permanent:
        unchecked = "so what it asks is unchecked, its syntax too"
        return f"check {name} could not be measured now, {unchecked}: {found.message}"
    if not trial.serves:
        return ""
    if isinstance(trial.check.probe, Http) and found.kind in (Kind.FAIL, Kind.ERROR):
        how = "fails it already" if found.kind is Kind.FAIL else "cannot be asked it"
        return f"check {name}: what serves now {how}: {found.message}"
    if found.kind is Kind.NO_DATA:
        return f"check {name}: this check cannot see the running version: {found.message}"
    return ""
