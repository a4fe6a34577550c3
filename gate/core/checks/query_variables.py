"""What a query can name: the values of its variables at one moment, each of them validated."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import field, replace
from typing import Final

from gate.core.frozen import dataclass
from gate.core.model.objects import SUBDOMAIN

OF_ALL: Final = frozenset({"namespace", "window", "elapsed"})
"""The variables that do not need a single workload for their value."""
_NUMBER: Final = "revision"

SHORTEST_WINDOW_SECONDS: Final = 1
"""PromQL refuses `[0s]`."""
_LONGEST_USER_VALUE: Final = 256
_USER_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}", re.ASCII)
_LABEL_VALUE: Final = re.compile(
    r"(?=.{1,63}$)[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class WorkloadVariables:
    """The names of the variables that one kind of workload has, besides its revision's number.

    `workload` is for its own name, `revision` for the name of the object that keeps a revision,
    `label` for the value of the label by which metrics tell the pods of a revision.
    """

    workload: str
    revision: str
    label: str

    @property
    def of_one_version(self) -> tuple[str, str]:
        """Those that tell one version from another; a comparison has to name one of them."""
        return self.revision, self.label

    @property
    def of_baseline(self) -> tuple[str, str]:
        """The same of the version that served before."""
        return f"baseline_{self.revision}", f"baseline_{self.label}"

    @property
    def all(self) -> tuple[str, ...]:
        """The variables that need a single workload for their value."""
        return (self.workload, *self.of_one_version, *self.of_baseline, _NUMBER)


@dataclass(frozen=True, slots=True)
class Version:
    """The pods of one version: the name of their revision and its label's value, "" if unknown."""

    name: str = ""
    label_value: str = ""


ComparedVersions = tuple[Version, Version | None]
"""The new version and the one that served before it, None if nothing did."""
UNKNOWN_VERSIONS: Final[ComparedVersions] = (Version(), None)


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged: a workload on its way from `baseline` to `new`, "" for no single one.

    `variables` are the names that its kind has for these values. Times are monotonic seconds;
    `first_available_at` is when the first new pod became available, None before. `baseline` is None
    if nothing served before.
    """

    namespace: str
    workload: str
    new: Version
    started_at: float
    baseline: Version | None = None
    revision: int | None = None
    first_available_at: float | None = None
    variables: WorkloadVariables = field(kw_only=True)

    @property
    def versions(self) -> ComparedVersions:
        """The new version, and the one that served before it."""
        return self.new, self.baseline

    def as_baseline(self) -> Subject:
        """Return the subject with the baseline in the new version's place.

        That is its side of a comparison; without a baseline nothing is known of that version.
        """
        return replace(self, new=self.baseline or Version())


def window_seconds(configured: float, first_available_at: float | None, now: float) -> int | None:
    """Return the window in whole seconds: never longer than the first new pod has been available.

    So it never reaches into the time of the old version. None below one second.
    """
    if first_available_at is None:
        return None
    seconds = math.floor(min(configured, now - first_available_at))
    return seconds if seconds >= SHORTEST_WINDOW_SECONDS else None


def values(
    subject: Subject, now: float, configured_window_seconds: float, user: Mapping[str, str]
) -> dict[str, str]:
    """Return the values of all variables that are known at `now`; what is not known is left out.

    `elapsed` is a duration in whole seconds since the start, and not known in the first second.
    ValueError for a value that does not have its variable's form.
    """
    baseline = subject.baseline or Version()
    revision = "" if subject.revision is None else str(subject.revision)
    names, new = subject.variables, subject.new
    given = (
        subject.namespace,
        subject.workload,
        new.name,
        new.label_value,
        baseline.name,
        baseline.label_value,
        revision,
    )
    named = {
        name: text for name, text in zip(("namespace", *names.all), given, strict=True) if text
    }
    labels = (names.label, names.of_baseline[1])
    for name, text in named.items():
        _validate(name, text, _LABEL_VALUE if name in labels else SUBDOMAIN)
    return {**user, **named, **dict(_durations(subject, now, configured_window_seconds))}


def user_variable_fault(name: str, value: str, built_in: Container[str]) -> str | None:
    """Return what is wrong with a user's variable, None if nothing is."""
    if _USER_NAME.fullmatch(name) is None:
        return f"not a variable's name: {name[:60]!a}"
    if name in built_in:
        return f"${{{name}}} is built in"
    if not value or len(value) > _LONGEST_USER_VALUE or not value.isprintable():
        return f"${{{name}}} is not one line of at most {_LONGEST_USER_VALUE} characters"
    return None


def _durations(subject: Subject, now: float, configured: float) -> Iterator[tuple[str, str]]:
    window = window_seconds(configured, subject.first_available_at, now)
    if window is not None:
        yield "window", f"{window}s"
    elapsed = math.floor(now - subject.started_at)
    if elapsed >= SHORTEST_WINDOW_SECONDS:
        yield "elapsed", f"{elapsed}s"


def _validate(name: str, text: str, form: re.Pattern[str]) -> None:
    if form.fullmatch(text) is None:
        raise ValueError(f"not a {name}: {text[:60]!a}")
