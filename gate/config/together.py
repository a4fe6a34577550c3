"""Find conflicts between options before anything is sent: names, files, secrets."""

from __future__ import annotations

import pathlib
import shlex
from collections.abc import Iterator, Mapping

from gate.config.limits import all_checks
from gate.config.metrics_settings import gateway_access
from gate.config.settings import Settings
from gate.config.takers import CHECKS, REHEARSE
from gate.config.taking import Path
from gate.core.checks.bake_window import least_counting_seconds, least_phase_seconds
from gate.core.checks.baseline_comparison import LEAST_SAMPLES
from gate.core.checks.sample_spacing import (
    least_sampling_seconds,
    sample_spacing_seconds,
    sample_test,
)
from gate.core.checks.spec import Check, Counts, During, Http
from gate.core.frozen import dataclass
from gate.core.statistics.count_decision import LEAST_TICKS
from gate.duration import format_seconds
from gate.errors import UsageError
from gate.manifests.source import escape_line
from gate.sources.access import Access
from gate.sources.address import Address
from gate.sources.source import Unanswered
from gate.wire.files import is_stream, obstacle

_OF_CHECKS = ("checks", "check", "http_check", "smoke_test")
_OF_PROMETHEUS = (
    "prometheus_token_file",
    "prometheus_header",
    "prometheus_ca_file",
    "prometheus_cert_file",
    "prometheus_key_file",
)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A complaint, and the options that it may be about, the likeliest first.

    `path` is the place inside the first option's value.
    """

    options: tuple[str, ...]
    message: str
    hint: str = ""
    path: Path = ()


def conflicts(command: str, settings: Settings, environ: Mapping[str, str]) -> Iterator[Conflict]:
    """Yield what is wrong in a command's settings; files with secrets are read, as a trial."""
    yield from _outputs(settings)
    if settings.require_lock and not settings.lock:
        yield Conflict(("require_lock", "lock"), "--require-lock and --no-lock exclude each other")
    for image in settings.expect_image:
        if "=" in image:
            hint = "--expect-image takes an image alone, without the name of a container"
            yield Conflict(("expect_image",), f"{escape_line(image)} is no image reference", hint)
    yield from _names(settings)
    if command in CHECKS:
        yield from _power(settings)
    yield from _samples(settings)
    yield from _looks(settings)
    checks = all_checks(settings)
    asks = command not in REHEARSE
    if settings.show is None and any(check.queries for check in checks):
        yield from _prometheus(settings, environ, asks=asks)
    yield from _services(settings, environ, asks=asks)
    yield from _pushgateway(settings, environ)


def _outputs(settings: Settings) -> Iterator[Conflict]:
    """Yield a complaint for each output file that cannot be written, or is written twice."""
    files = [("report", report.path) for report in settings.report]
    files += [
        ("record", settings.record or ""),
        ("metrics_textfile", settings.metrics_textfile or ""),
    ]
    taken = {pathlib.Path(one).absolute(): "is a manifest of this run" for one in settings.file}
    for option, file in files:
        if file and not is_stream(pathlib.Path(file)):
            path = pathlib.Path(file).absolute()
            if why := taken.get(path):
                yield Conflict((option,), f"{escape_line(file)} {why}", "name another file")
            taken[path] = "is given for another output, too"
        if file and (why := obstacle(pathlib.Path(file))):
            folder = pathlib.Path(file).parent
            hint = "" if folder.exists() else f"mkdir -p {shlex.quote(str(folder))}"
            yield Conflict((option,), f"{escape_line(file)}: {why}", hint)


def _power(settings: Settings) -> Iterator[Conflict]:
    """Yield a complaint for each figure that only `--power` takes, and for two answers at once."""
    for option in ("traffic", "rate", "exposure"):
        if getattr(settings, option) is not None and not settings.power:
            yield Conflict((option,), "goes with --power alone")
    if settings.power and (settings.explain or settings.show is not None):
        yield Conflict(("power",), "goes with neither --explain nor --show")


def _names(settings: Settings) -> Iterator[Conflict]:
    """Yield a complaint for each name that checks of two options, or two `--check`s, share."""
    taken: dict[str, str] = {}
    for option in _OF_CHECKS:
        mine: tuple[Check, ...] = getattr(settings, option)
        for check in mine:
            if taken.setdefault(check.name, option) != option:
                text = f"a second check is named {check.name}"
                yield Conflict((option,), text, "a result names its check")
        if len({check.name for check in mine}) < len(mine) and option == "check":
            yield Conflict((option,), "two checks have one name", "a result names its check")


def _samples(settings: Settings) -> Iterator[Conflict]:
    """Yield a complaint for each test that cannot collect its samples within its phase."""
    for index, check in enumerate(settings.checks):
        if sample_test(check) is None:
            continue
        count, seconds = check.schedule.count, least_sampling_seconds(check)
        if count is not None and count < LEAST_SAMPLES:
            text = (
                f"{check.name}: a test needs {LEAST_SAMPLES} samples a side, and count is {count}"
            )
            yield Conflict(("checks",), text, "leave count out", (index, "count"))
        option, phase = _phase_seconds(settings, check)
        if phase is not None and phase <= seconds:
            spacing = format_seconds(sample_spacing_seconds(check))
            text = (
                f"{check.name}: {LEAST_SAMPLES} samples a side, {spacing} apart so that no two"
                f" windows overlap, take over {format_seconds(seconds)}, and {option} is"
                f" {format_seconds(phase)}"
            )
            hint = f"a shorter window, or --{option} {format_seconds(least_phase_seconds(check))}"
            yield Conflict(("checks",), text, hint, (index, "compare"))


def _looks(settings: Settings) -> Iterator[Conflict]:
    """Yield a complaint for each comparison by counts whose phase has too few looks to decide.

    With `--power` the answer says so itself, and which phase would do.
    """
    for index, check in enumerate(settings.checks):
        if settings.power or not isinstance(check.probe, Counts):
            continue
        option, phase = _phase_seconds(settings, check)
        bounds = f"{option} is"
        if check.schedule.during is During.BOTH and phase is not None:
            # A slow rollout may give it the looks that the window is too short for.
            phase = None if settings.timeout is None else settings.timeout + phase
            bounds = "timeout and bake together are"
        seconds = least_counting_seconds(check)
        if phase is not None and phase <= seconds:
            text = (
                f"{check.name}: {LEAST_TICKS} looks take over {format_seconds(seconds)} with what"
                f" is left out at the beginning, and {bounds} {format_seconds(phase)}: nothing"
                " could be decided"
            )
            hint = f"a shorter interval, or --{option} {format_seconds(least_phase_seconds(check))}"
            yield Conflict(("checks",), text, hint, (index,))


def _phase_seconds(settings: Settings, check: Check) -> tuple[str, float | None]:
    """Return the option that bounds a check's phase, and the most seconds; None if that is open.

    A check in both phases is bound by the bake window: a rollout may be over in seconds.
    """
    if check.schedule.during is During.ROLLOUT:
        return "timeout", settings.timeout
    return "bake", settings.bake


def _prometheus(
    settings: Settings, environ: Mapping[str, str], *, asks: bool
) -> Iterator[Conflict]:
    """Yield what is wrong with the server; of credentials only if the command `asks` it."""
    if settings.prometheus_url is None:
        return
    access = settings.access(environ)
    said = tuple(name for name in _OF_PROMETHEUS if getattr(settings, name))
    try:
        address = _address(settings.prometheus_url, access)
    except UsageError as error:
        yield Conflict(("prometheus_url", "prometheus"), error.message, error.hint)
        return
    for wrong in _unusable(address, access) if asks else ():
        yield Conflict((*said, "prometheus", "prometheus_url"), wrong.message, wrong.hint)


def _services(settings: Settings, environ: Mapping[str, str], *, asks: bool) -> Iterator[Conflict]:
    """Yield what is wrong with the services that HTTP checks ask, each once; `asks` as above."""
    seen: set[str] = set()
    for option in _OF_CHECKS:
        for check in getattr(settings, option):
            if not isinstance(check.probe, Http):
                continue
            access = settings.http_access(check.probe.question.url, environ)
            try:
                address = _address(check.probe.question.url, access)
            except UsageError as error:
                yield Conflict((option,), f"{check.name}: {error.message}", error.hint)
                continue
            known = not asks or str(address) in seen
            wrong = [] if known else [*_unusable(address, access)]
            seen.add(str(address))
            yield from (Conflict(("services",), each.message, each.hint) for each in wrong)


def _pushgateway(settings: Settings, environ: Mapping[str, str]) -> Iterator[Conflict]:
    if settings.pushgateway is None:
        return
    access = gateway_access(environ, allow_plain_http=settings.allow_insecure)
    for wrong in _unusable(Address.parse(settings.pushgateway.base), access):
        yield Conflict(("pushgateway",), wrong.message, wrong.hint)


def _address(url: str, access: Access) -> Address:
    return Address.parse(url, allow_link_local=access.allow_link_local)


def _unusable(address: Address, access: Access) -> Iterator[UsageError]:
    """Yield what keeps a server from being asked: missing files, plain HTTP."""
    try:
        access.check(address)
    except UsageError as error:
        yield error
    try:
        access.headers_for()
    except Unanswered as failed:
        yield UsageError(failed.error.why, hint=failed.error.hint)
