"""The workload that an attempt ends with, and how long what is said of its revisions is kept.

A judgement is of use for as long as its revision exists: without it a version that was taken back
looks like one that nobody ever judged, and an `undo` would choose it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from gate.core.frozen import dataclass
from gate.core.model.objects import Revision
from gate.core.versions.judged_version import JudgedVersion, LeftVersion, template_digest

MOST_OF_REVISIONS: Final = 20
"""How many are kept for their revisions: twice the default `revisionHistoryLimit`.

More of them would take the room of what was applied with the verified versions.
"""

_Remembered = TypeVar("_Remembered", JudgedVersion, LeftVersion)


@dataclass(frozen=True, slots=True)
class ClosingWorkload:
    """A workload at the end of an attempt: its uid, and the revisions that it still has.

    `passed` are the checks that its pod template, the `template_digest`, has passed where other
    checks keep it from being verified.
    """

    uid: str = ""
    revisions: tuple[Revision, ...] = ()
    template: str = ""
    passed: frozenset[str] = frozenset()

    def has_passed(self, version: JudgedVersion) -> bool:
        """Tell whether it has passed the check that left a version."""
        return version.template == self.template and version.check in self.passed

    def has(self, revision_name: str) -> bool:
        """Tell whether it still has the revision of that name."""
        return any(one.name == revision_name for one in self.revisions)

    def keep_judged(
        self, versions: Sequence[JudgedVersion], most: int
    ) -> tuple[JudgedVersion, ...]:
        """Return the newest of the versions, and the newest of each revision, oldest first."""
        return _keep(versions, most, self._key)

    def keep_left(self, versions: Sequence[LeftVersion], most: int) -> tuple[LeftVersion, ...]:
        """Return the newest of the versions, and the newest of each revision, oldest first."""
        return _keep(versions, most, self._key)

    def _key(self, version: JudgedVersion | LeftVersion) -> tuple[str, ...]:
        """Return what its revision, and the check that left it, are told by, () if it is gone."""
        templates = {template_digest(one.template) for one in self.revisions}
        names = {one.name for one in self.revisions}
        exists = version.template in templates or version.revision_name in names
        check = version.check if isinstance(version, JudgedVersion) else ""
        return (version.template, version.revision_name, check) if exists else ()


def _keep(
    versions: Sequence[_Remembered], most: int, key: Callable[[_Remembered], tuple[str, ...]]
) -> tuple[_Remembered, ...]:
    """Return the `most` newest, and for each key the newest; an empty key is kept for nothing."""
    kept: list[_Remembered] = []
    met: set[tuple[str, ...]] = set()
    for age, one in enumerate(reversed(versions)):
        own = key(one)
        is_last_word = bool(own) and own not in met and len(kept) < MOST_OF_REVISIONS
        met.add(own)
        if age < most or is_last_word:
            kept.append(one)
    return tuple(reversed(kept))
