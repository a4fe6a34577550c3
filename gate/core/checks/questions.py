"""What a check asks of the world, and what comes back: the values that sources translate.

A source is asked one `Question` and gives `Answered` or `Errored`; what an answer means for a
version is decided in `gate.core.checks.tick_measurement`, never by a source.
"""

from __future__ import annotations

import enum
import math
from dataclasses import replace
from typing import Final, Literal

from gate.core.checks.json_path import JsonPath
from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText

NO_TEXT: Final = CleanText("")


@dataclass(frozen=True, slots=True)
class MetricQuestion:
    """An instant query, evaluated at `at` (monotonic seconds of the gate's clock).

    After `answer_by`, on the same clock, nobody awaits the answer: until then the source asks again
    what may pass, and then says why there is no answer.
    """

    query: str
    at: float
    answer_by: float = math.inf


@dataclass(frozen=True, slots=True)
class HttpQuestion:
    """One request for a URL.

    `contains` is text that is looked for in the body, "" for none; `json_path` the path of a number
    in it, () for none. `redirects` is how many are followed.
    """

    url: str
    method: Literal["GET", "HEAD"] = "GET"
    contains: str = ""
    json_path: JsonPath = ()
    redirects: int = 0
    timeout_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class CommandQuestion:
    """A program to run: its argument vector, and what is added to its environment."""

    arguments: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    timeout_seconds: float = 60.0


Question = MetricQuestion | HttpQuestion | CommandQuestion


class Form(enum.StrEnum):
    """The type of a query's result, as Prometheus names it."""

    VECTOR = "vector"
    SCALAR = "scalar"
    STRING = "string"
    MATRIX = "matrix"
    HISTOGRAM = "native histogram"


COUNTED_LABEL: Final = "rollout_gate_counted"
"""The label by which one query tells the counters of bad events from those of all."""


class Counted(enum.StrEnum):
    """What a counter counts."""

    BAD = "bad"
    TOTAL = "total"


@dataclass(frozen=True, slots=True)
class Series:
    """One element of a vector; `labels` is its label set as PromQL writes it.

    For a counter, `counted` says what it counts, and `identity` is the same at each question and
    different for each counter of a kind, whatever its name and however long its labels. `pod` is
    its label of that name, "" without one.
    """

    value: float
    labels: CleanText = NO_TEXT
    counted: Counted | None = None
    identity: str = ""
    pod: str = ""


@dataclass(frozen=True, slots=True)
class Samples:
    """The answer to a query; `series` are empty unless `form` is a vector or a scalar.

    `remarks` are the warnings and infos that came with it: then the answer may be partial.
    """

    form: Form
    series: tuple[Series, ...] = ()
    remarks: tuple[CleanText, ...] = ()


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What the service under test answered.

    `found` is whether the body contains the text, None if none was looked for. `number` is the
    number at the JSON path, None if there is no value or it is no number.
    """

    status: int
    latency_seconds: float
    found: bool | None = None
    number: float | None = None
    location: CleanText = NO_TEXT


@dataclass(frozen=True, slots=True)
class NoReply:
    """The service under test refused the connection, broke it, or did not answer in time."""

    why: CleanText


@dataclass(frozen=True, slots=True)
class Exit:
    """How a command ended; `code` is negative after a signal, None if it timed out."""

    code: int | None
    output: CleanText = NO_TEXT


Answer = Samples | HttpReply | NoReply | Exit


class Trouble(enum.StrEnum):
    """Why a question has no answer."""

    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    TIMED_OUT = "timed-out"
    NAME = "name-not-resolved"
    TLS = "tls"
    OVERLOADED = "overloaded"
    SERVER_FAILED = "server-failed"
    REDIRECTED = "redirected"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not-found"
    BAD_QUERY = "bad-query"
    BAD_ANSWER = "bad-answer"
    CREDENTIALS = "credentials"
    ADDRESS = "address"
    COMMAND = "command"
    CANCELLED = "cancelled"
    NOT_ASKED = "not-asked"


PERMANENT = frozenset(
    {
        Trouble.TLS,
        Trouble.REDIRECTED,
        Trouble.UNAUTHORIZED,
        Trouble.FORBIDDEN,
        Trouble.NOT_FOUND,
        Trouble.BAD_QUERY,
        Trouble.BAD_ANSWER,
        Trouble.CREDENTIALS,
        Trouble.ADDRESS,
        Trouble.COMMAND,
    }
)
"""Asking again is no use: before anything is applied these refuse, later they are plain errors."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The question has an answer."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Errored:
    """There is no answer; `position` is where in the query the server found a fault (line, column).

    `retry_after_seconds` is what the server asked for, None if it did not.
    """

    why: CleanText
    trouble: Trouble
    hint: str = ""
    position: tuple[int, int] | None = None
    retry_after_seconds: float | None = None

    @property
    def permanent(self) -> bool:
        """Whether asking again is no use."""
        return self.trouble in PERMANENT

    @property
    def usage(self) -> bool:
        """Whether it is the query that is wrong (400, 422): exit 2 before anything is applied."""
        return self.trouble is Trouble.BAD_QUERY


@dataclass(frozen=True, slots=True)
class Questions:
    """All that a check asks at one tick: the value, and what qualifies it."""

    value: Question
    samples: Question | None = None
    freshness: Question | None = None
    baseline: Question | None = None

    def answered_by(self, at: float) -> Questions:
        """Return the questions with the time after which nobody awaits an answer."""
        return Questions(
            _answered_by(self.value, at),
            _answered_by(self.samples, at) if self.samples is not None else None,
            _answered_by(self.freshness, at) if self.freshness is not None else None,
            _answered_by(self.baseline, at) if self.baseline is not None else None,
        )


def _answered_by(question: Question, at: float) -> Question:
    """Return a question with its time; programs and services have a limit of their own."""
    return replace(question, answer_by=at) if isinstance(question, MetricQuestion) else question


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to `Questions`, None if nothing was asked."""

    value: Answer
    samples: Answer | None = None
    freshness: Answer | None = None
    baseline: Answer | None = None
