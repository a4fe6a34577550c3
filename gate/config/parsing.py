"""Parse the text of a flag or a variable, or a value of a file, into the value of a setting.

Each parser also takes the finished value, so that settings can be built in code. It raises
UsageError without a place: the layers know where the value came from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Final, Literal, TypeGuard, TypeVar

from gate.config.fail_fast import fail_fast
from gate.core.frozen import dataclass
from gate.core.model.int_or_percent import Share
from gate.core.model.lock import PREFIX
from gate.core.model.objects import LABEL, SUBDOMAIN
from gate.core.rollout.policy import FailFast
from gate.duration import parse_seconds
from gate.errors import UsageError
from gate.manifests.images import ImageOverride
from gate.manifests.kinds.rules import LintCode
from gate.manifests.lint import read_silenced
from gate.rbac_subject import Subject, parse_subject
from gate.report.formats.format import Format

AUTO: Final = "auto"
MIN_AVAILABLE: Final = "min-available"
_REVISION: Final = re.compile(r"0*[1-9][0-9]{0,17}", re.ASCII)
"""The Deployment controller parses revisions as int64."""

_NAMESPACE_HINT: Final = "at most 63 of a-z, 0-9 and -, with a letter or digit at both ends"
_PORT: Final = re.compile(r"[0-9]{1,5}", re.ASCII)
_HIGHEST_PORT: Final = 65_535
_LONGEST_HINT: Final = 120
_NUMBER: Final = re.compile(r"[0-9]{1,12}(?:\.[0-9]{0,12})?(?:e-?[0-9]{1,2})?", re.ASCII)
_MOST_PER_SECOND: Final = 1e9
_SLOWEST, _FASTEST = 0.01, 1000.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReportFile:
    """One `--report FORMAT=FILE`."""

    format: Format
    path: str

    @classmethod
    def parse(cls, text: str) -> ReportFile:
        """Read `FORMAT=FILE`; UsageError otherwise."""
        form, _, path = text.partition("=")
        if not path or form not in set(Format):
            hint = f"FORMAT=FILE, FORMAT one of {', '.join(Format)}"
            raise UsageError(f"not a report: {_quote_value(text)}", hint=hint)
        return cls(Format(form), path)


def parse_text(value: object) -> str:
    """Take text that is not blank."""
    if not isinstance(value, str):
        raise UsageError(f"not text: {_quote_value(value)}", hint="put it in quotes")
    if not value.strip():
        raise UsageError("is empty")
    return value


def parse_namespace(value: object) -> str:
    """Take the name of a namespace."""
    name = parse_text(value)
    if not LABEL.fullmatch(name):
        raise UsageError(f"not a namespace: {_quote_value(name)}", hint=_NAMESPACE_HINT)
    return name


def parse_rbac_subject(value: object) -> Subject:
    """Take a subject of RBAC."""
    return value if isinstance(value, Subject) else parse_subject(parse_text(value))


def parse_namespaces(value: object) -> tuple[str, ...]:
    """Take the names of namespaces."""
    return tuple(map(parse_namespace, parse_texts(value)))


def parse_lock_name(value: object) -> str:
    """Take what a lock is named after, a workload in each form of NAME, or its own name."""
    from gate.kube.kinds import registry

    name = parse_text(value)
    kind, bare = registry.parse_name(name)
    is_own_name = bare.startswith(PREFIX)
    if not SUBDOMAIN.fullmatch(bare) or (kind is None and not is_own_name):
        raise UsageError(
            f"not a lock: {_quote_value(name)}{registry.guess_name(name)}",
            hint="as in web, sts/db or deployment.apps/web, or as locks lists them",
        )
    return name


def parse_texts(value: object) -> tuple[str, ...]:
    """Take a list of texts, or text with one element a line."""
    if isinstance(value, str):
        return tuple(line for line in map(str.strip, value.splitlines()) if line)
    return tuple(parse_text(item) for item in (value if _is_list(value) else [value]))


def parse_duration(value: object) -> float:
    """Take a duration that may be 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UsageError(
            f"not a duration: {_quote_value(value)}", hint="as in 600, 90s, 10m, 1h30m"
        )
    # Python writes a small number with an exponent, which no duration has.
    return parse_seconds(
        format(Decimal(str(value)), "f") if isinstance(value, float) else str(value)
    )


def parse_limit(value: object) -> float:
    """Take a duration that is more than 0."""
    seconds = parse_duration(value)
    if seconds <= 0:
        raise UsageError(f"must be more than 0: {_quote_value(value)}")
    return seconds


def parse_budget(value: object) -> float | None:
    """Take a limit or `auto`, which is None."""
    return None if value == AUTO else parse_limit(value)


def parse_window(value: object) -> float | None:
    """Take a duration that may be 0, or `auto`, which is None."""
    return None if value == AUTO else parse_duration(value)


def parse_share(value: object) -> Share:
    """Take a count, or a share of at most 100%."""
    if isinstance(value, Share):
        return value
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise UsageError(f"neither a count (3) nor a share (25%): {_quote_value(value)}")
    try:
        share = Share.parse(value)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if share.percent and share.amount > 100:  # noqa: PLR2004 - percent
        raise UsageError(f"more than 100%: {_quote_value(value)}")
    return share


def parse_required(value: object) -> Share | Literal["min-available"]:
    """Take a share of at least one pod, or `min-available`."""
    if value == MIN_AVAILABLE:
        return MIN_AVAILABLE
    share = parse_share(value)
    if share.amount == 0:
        raise UsageError(
            f"must be more than 0: {_quote_value(value)}", hint="as in 3, 50%, min-available"
        )
    return share


def parse_revision(value: object) -> int:
    """Take the number of a revision."""
    if isinstance(value, bool) or not _REVISION.fullmatch(str(value)):
        raise UsageError(f"not a revision: {_quote_value(value)}", hint="as in 3; see history")
    return int(str(value))


def parse_days(value: object) -> int:
    """Take a number of whole days, at least 1."""
    if isinstance(value, bool) or not _REVISION.fullmatch(str(value)):
        raise UsageError(
            f"not a number of days: {_quote_value(value)}", hint="whole days, as in 90"
        )
    return int(str(value))


def parse_port(value: object) -> int:
    """Take a port; 0 means any free one."""
    text = str(value)
    if isinstance(value, bool) or not _PORT.fullmatch(text) or int(text) > _HIGHEST_PORT:
        raise UsageError(
            f"not a port: {_quote_value(value)}", hint=f"0 to {_HIGHEST_PORT}, as in 6443"
        )
    return int(text)


def parse_speed(value: object) -> float:
    """Take a speed: how many seconds of the sandbox pass in one second."""
    try:
        speed = float("nan") if isinstance(value, bool) else float(str(value))
    except ValueError:
        speed = float("nan")
    if not _SLOWEST <= speed <= _FASTEST:
        hint = f"from {_SLOWEST:g} to {_FASTEST:g}, as in 10"
        raise UsageError(f"not a speed: {_quote_value(value)}", hint=hint)
    return speed


def parse_per_second(value: object) -> float:
    """Take a number of events a second, above 0."""
    number = _number(value)
    if not 0 < number <= _MOST_PER_SECOND:
        hint = f"above 0, at most {_MOST_PER_SECOND:,.0f}, as in 20"
        raise UsageError(f"no events a second: {_quote_value(value)}", hint=hint)
    return number


def parse_rate(value: object) -> float:
    """Take a share of bad events, as a number below 1 or in per cent."""
    text = str(value).strip()
    percent = text.endswith("%")
    number = _number(text.removesuffix("%") if percent else value) / (100 if percent else 1)
    if not 0 < number < 1:
        raise UsageError(f"no share of bad events: {_quote_value(value)}", hint="as in 1% or 0.01")
    return number


def parse_exposure(value: object) -> tuple[float, float]:
    """Take the parts of both versions, each above 0."""
    if isinstance(value, tuple):
        return value
    new, colon, old = str(value).partition(":")
    parts = _number(new), _number(old)
    if not (colon and all(0 < part <= _MOST_PER_SECOND for part in parts)):
        hint = "two numbers above 0, new before old, as in 1:9"
        raise UsageError(f"no parts of the traffic: {_quote_value(value)}", hint=hint)
    return parts


def _number(value: object) -> float:
    """Return a decimal number, NaN for what is none."""
    text = str(value).strip()
    is_number = not isinstance(value, bool) and _NUMBER.fullmatch(text) is not None
    return float(text) if is_number else float("nan")


def parse_fail_fast(value: object) -> FailFast:
    """Take a list of `KIND=VALUE`."""
    if isinstance(value, FailFast):
        return value
    _require_pairs(value)
    return fail_fast(parse_texts(value))


def parse_images(value: object) -> tuple[ImageOverride, ...]:
    """Take a list of `CONTAINER=REF`."""
    _require_pairs(value)
    return _each(ImageOverride, _image, value)


def parse_reports(value: object) -> tuple[ReportFile, ...]:
    """Take a list of `FORMAT=FILE`."""
    _require_pairs(value)
    return _each(ReportFile, ReportFile.parse, value)


def parse_silence(value: object) -> frozenset[LintCode]:
    """Take the codes of warnings, or `all`."""
    return value if isinstance(value, frozenset) else read_silenced(parse_texts(value))


def _image(text: str) -> ImageOverride:
    try:
        return ImageOverride.parse(text)
    except UsageError as error:
        # The layers name the flag, or the variable or key that was used instead.
        raise UsageError(error.message.removeprefix("--image "), hint=error.hint) from error


def _each(kind: type[T], parse: Callable[[str], T], value: object) -> tuple[T, ...]:
    items = value if _is_list(value) else parse_texts(value)
    return tuple(item if isinstance(item, kind) else parse(parse_text(item)) for item in items)


def _require_pairs(value: object) -> None:
    """Raise UsageError, with the form to write, for a mapping (or a list of them) as a value."""
    items = value if _is_list(value) else [value]
    mappings = [item for item in items if isinstance(item, Mapping)]
    if not mappings:
        return
    pairs = (pair for mapping in mappings for pair in mapping.items())
    listed = ", ".join(f"{key}={_as_written(one)}" for key, one in pairs)
    raise UsageError(
        f"a mapping, not a list of KEY=VALUE: {_quote_value(mappings[0])}",
        hint=f"write [{listed}]" if len(listed) <= _LONGEST_HINT else "write [KEY=VALUE, ...]",
    )


def _as_written(value: object) -> object:
    """Return a scalar as a YAML 1.1 file spells it: false is `off`."""
    return {False: "off", True: "on"}[value] if isinstance(value, bool) else value


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, tuple | list)


def _quote_value(value: object) -> str:
    text = value if isinstance(value, str) else str(value)
    return ascii(text if len(text) <= 60 else f"{text[:60]}...")  # noqa: PLR2004 - one short line
