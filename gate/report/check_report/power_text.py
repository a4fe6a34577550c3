"""What `checks --power` prints for people: whence its figures came, what would be found, when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.core.checks.power import LONGEST_PHASE_SECONDS, MOST_TRAFFIC
from gate.core.checks.running_traffic import HOUR_SECONDS
from gate.core.statistics.count_estimate import POWER, SOUGHT
from gate.duration import format_seconds
from gate.report.check_report.text import checks_table
from gate.report.schema.check_result import ChecksResult
from gate.report.schema.power_result import ChanceResult, MeasuredTrafficResult, PowerResult
from gate.report.style.style import Style, columns, pad

_INDENT: Final = "  "
_LABEL_COLUMNS: Final = 10
_MOST_LINES: Final = 4
_HEAD: Final = ("A NEW VERSION THAT IS", "FAILS IN", "HALF OF ALL BY")
_WHOLE_HOUR_SECONDS: Final = HOUR_SECONDS - 60
_HARDLY_ANY: Final = 0.005
_WHOLE_FROM: Final = 10.0


def power_text(result: ChecksResult, style: Style) -> str:
    """Return a block for each check, and below them those that could not be asked."""
    lines: list[str] = []
    for power in result["power"]:
        lines += [*_block(power, style), ""]
    if result["checks"]:
        return "\n".join(lines) + checks_table(result, style)
    return "\n".join(lines[:-1]) + "\n"


def _block(power: PowerResult, style: Style) -> Iterator[str]:
    about = f" ({power['about']})" if power["about"] else ""
    reports = "" if power["decides"] else ", reports only"
    yield style.cut(f"{power['name']}{about}{reports}", style.width)
    for label, text in _figures(power):
        yield from _label_lines(label, text, style)
    if power["obstacle"]:
        yield from _label_lines("shows", f"nothing: {power['obstacle']}", style)
        yield from _label_lines("", power["way_out"], style)
        if power["enough_phase_seconds"] is not None:
            yield from _label_lines("enough", _enough(power), style)
        return
    yield ""
    yield from (f"{_INDENT}{line}" for line in _table(power))
    yield ""
    for label, text in _conclusions(power):
        yield from _label_lines(label, text, style)


def _label_lines(label: str, text: str, style: Style) -> Iterator[str]:
    room = style.width - len(_INDENT) - _LABEL_COLUMNS
    for at, line in enumerate(style.wrap(text, room, _MOST_LINES)):
        yield f"{_INDENT}{pad('' if at else label, _LABEL_COLUMNS)}{line}".rstrip()


# -- the figures -----------------------------------------------------------------------------------


def _figures(power: PowerResult) -> Iterator[tuple[str, str]]:
    traffic = f"{_per_second(power['traffic_per_second'])} of both versions together"
    yield "traffic", f"{traffic} ({_origin(power['traffic_origin'], 'traffic')})"
    yield "bad", f"{_percent(power['rate'])} of it ({_origin(power['rate_origin'], 'rate')})"
    if power["measured"] is not None:
        yield "measured", _describe_traffic(power["measured"])
    yield "shares", _shares(power)
    yield "looks", _looks(power)


def _origin(origin: str, flag: str) -> str:
    return f"--{flag}" if origin == "given" else "as what runs now got"


def _describe_traffic(found: MeasuredTrafficResult) -> str:
    counted = f"{found['bad']:,.0f} bad of {found['total']:,.0f}"
    whole = found["seconds"] >= _WHOLE_HOUR_SECONDS
    seen = "" if whole else f", of which {format_seconds(found['seconds'])} were seen"
    return f"{' and '.join(found['versions'])} in the last hour{seen}: {counted}"


def _shares(power: PowerResult) -> str:
    exposure = power["exposure"]
    new, old = f"{exposure['new']:g}", f"{exposure['old']:g}"
    match exposure["origin"]:
        case "flag":
            return f"{new} to the new version, {old} to the old one (--exposure)"
        case "strategy":
            return (
                f"pods: {new} new, and {old} that the workload's strategy leaves old; each is"
                " taken to get as much"
            )
        case _:
            return "a rolling update moves them evenly from the old version to the new one"


def _looks(power: PowerResult) -> str:
    every = format_seconds(power["interval_seconds"])
    length = format_seconds(power["phase_seconds"])
    given = "--bake" if power["phase_origin"] == "bake" else "as long as it may take by itself"
    moves = power["exposure"]["origin"] == "rolling-update"
    both = ", if both versions serve for so long" if moves and not power["obstacle"] else ""
    first = format_seconds(power["first_look_seconds"])
    return f"{power['looks']}, one every {every} from {first} on, in {length} ({given}){both}"


# -- what they mean --------------------------------------------------------------------------------


def _table(power: PowerResult) -> Iterator[str]:
    rows = [_HEAD, *map(_row, power["chances"])]
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        yield "  ".join(pad(cell, width) for cell, width in cells).rstrip()


def _row(chance: ChanceResult) -> tuple[str, str, str]:
    name = f"{chance['ratio']:g} times as bad"
    if chance["failed"] is None:
        return name, "-", "there is no such rate"
    after = chance["half_failed_after_seconds"]
    return name, _share(chance["failed"]), "-" if after is None else format_seconds(after)


def _conclusions(power: PowerResult) -> Iterator[tuple[str, str]]:
    passes, after = power["equal_passes"], power["half_passed_after_seconds"]
    half = "" if after is None else f", half of all by {format_seconds(after)}"
    yield "equal", f"passes in {_share(passes or 0.0)}{half}"
    smallest = power["smallest_ratio"]
    found = "no ratio up to 100" if smallest is None else f"{smallest:.2g} times as bad"
    if power["rate"]:
        yield "found", f"four times in five: {found}"
    yield "enough", _enough(power)
    points = max(1, round(100 * power["error"]))
    yield (
        "how",
        f"{power['rollouts']:,} simulated rollouts for each: shares may be off by {points} points",
    )
    every = format_seconds(power["interval_seconds"])
    seen = "that each look sees new requests of both versions"
    yield "assumes", f"{seen}: with scrapes more than {every} apart less may be found, and later"


def _enough(power: PowerResult) -> str:
    found = next((one["failed"] for one in power["chances"] if one["ratio"] == SOUGHT), None)
    if not power["rate"]:
        return "without a bad event there is no ratio: say by --rate which share is usual"
    if found is None and not power["obstacle"]:
        return "there is no rate twice as bad"
    if 1 + power["tolerance"] >= SOUGHT:
        tolerated = f"tolerance: {power['tolerance']:g}"
        return f"twice as bad is tolerated ({tolerated}): it is meant to run on, and is not found"
    if found is not None and found >= POWER:
        return "as it is: twice as bad is found at least four times in five"
    phase, traffic = power["enough_phase_seconds"], power["enough_traffic_per_second"]
    either = [
        *([_length(power, phase)] if phase is not None else ()),
        *([_per_second(traffic)] if traffic is not None else ()),
    ]
    if not either:
        longest = format_seconds(LONGEST_PHASE_SECONDS)
        return (
            f"nothing within reason finds twice as bad four times in five: neither {longest} nor"
            f" {MOST_TRAFFIC:g} times the traffic"
        )
    return f"twice as bad is found four times in five with about {' or '.join(either)}"


def _length(power: PowerResult, seconds: float) -> str:
    """Say how long a phase would do; no flag makes a rolling update take longer."""
    if power["exposure"]["origin"] == "rolling-update":
        return f"{format_seconds(seconds)} in which both versions serve"
    return f"--bake {format_seconds(seconds)}"


def _per_second(traffic: float) -> str:
    return f"{traffic:,.0f}/s" if traffic >= _WHOLE_FROM else f"{traffic:.3g}/s"


def _share(share: float) -> str:
    """Return a simulated share, which has no more digits than that."""
    return "under 1%" if share < _HARDLY_ANY else f"{share:.0%}"


def _percent(rate: float) -> str:
    return f"{100 * rate:.3g}%"
