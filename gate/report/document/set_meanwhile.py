"""What others set in a workload during its rollout, beside what was applied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.core.attempt.state import Attempt
from gate.core.model.outcome import Outcome
from gate.core.writes.authorship import find_changers
from gate.wire.untrusted import clean_line

_MOST_PATHS: Final = 3
_OF_PODS: Final = tuple(
    f"spec.template.{name}"
    for name in ("metadata", "spec.containers", "spec.initContainers", "spec.volumes")
)
"""What makes another version of a workload, which is followed then."""
_JUDGED: Final = (Outcome.VERIFIED, Outcome.INCONCLUSIVE)


def describe_set_meanwhile(attempt: Attempt) -> Iterator[str]:
    """Say who set what decides on which nodes, or how far, the new version was rolled out.

    The manifest left it open: nothing of what was applied shows it.
    """
    for ref, written in attempt.ledger.written.items():
        ending, live = attempt.result.endings.get(ref), attempt.ledger.live.get(ref)
        if ending is None or ending.outcome not in _JUDGED or live is None:
            continue
        for manager, paths in find_changers(written.after, live, written.field_manager).items():
            found = [path for path in paths if _decides(path)]
            if found:
                more = f" and {len(found) - _MOST_PATHS} more" if len(found) > _MOST_PATHS else ""
                named = ", ".join(map(clean_line, found[:_MOST_PATHS])) + more
                who = f"{clean_line(manager)} set {named} during the rollout"
                yield f"{attempt.plan.name_of(ref)}: {who}, which was not applied"


def _decides(path: str) -> bool:
    return path.startswith("spec.") and not path.startswith(("spec.paused", *_OF_PODS))
