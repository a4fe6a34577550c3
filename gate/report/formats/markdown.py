"""The result as GitHub Flavored Markdown: a page for a step's summary.

Only what this module writes is markup: external text is code, fenced or inline, or has every
punctuation mark escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gate.core.model.outcome import Outcome
from gate.report.advice.look_further import look_further
from gate.report.advice.next_steps import next_steps
from gate.report.advice.step import Step
from gate.report.kinds import registry
from gate.report.schema.check_verdict import CheckResult
from gate.report.schema.result import Result, WorkloadResult
from gate.report.schema.version import Version
from gate.report.words.changed_parts import describe_hidden_values
from gate.report.words.facts import (
    action_words,
    not_taken_back,
    output_title,
    piece_title,
    runs_now,
    sentence,
    stands,
    surroundings,
)
from gate.report.words.grade import Grade, ending_word, grade, result_grade
from gate.report.words.half_applied import keeps_version
from gate.report.words.headline import exit_words, outcome_words
from gate.report.words.not_judged import list_not_judged
from gate.report.words.object_names import object_name
from gate.report.words.version_names import is_last_verified

BUDGET_BYTES: Final = 900 * 1024
"""GitHub drops a step's whole summary beyond 1 MiB."""
_NOTE_BYTES: Final = 100
_SIGNS: Final = {Grade.GOOD: "✅", Grade.BAD: "❌", Grade.BROKEN: "⚠️", Grade.UNSURE: "❔"}
_ESCAPED: Final = str.maketrans({mark: f"\\{mark}" for mark in r"\`*_[]<>&!|~:@$#^=+-."})
"""What can start or end markup in a line, or at its start."""
_BACKTICKS: Final = re.compile("`+")
_URL: Final = re.compile(r"https?://[^\s<>\\]+")
_AS_LEFT: Final = ("as-written", "unread")
_MOST_TIMELINE_LINES: Final = 200


def markdown(result: Result, budget_bytes: int = BUDGET_BYTES) -> str:
    """Return the page, of at most `budget_bytes` in UTF-8; parts that do not fit are left out."""
    kept: list[str] = []
    left = budget_bytes
    skipped = 0
    for section in _sections(result):
        size = len(section.encode("utf-8", "replace")) + 1
        if size > left - _NOTE_BYTES:
            skipped += 1
            continue
        left -= size
        kept.append(section)
    if skipped:
        kept.append(f"_{skipped} more parts are left out: the page would be too long._\n")
    return "\n".join(kept)


def _sections(result: Result) -> Iterator[str]:
    """Yield the parts of the page, the most telling first; each ends in a line feed."""
    yield from _verdict(result)
    yield from _steps("What to do now", next_steps(result))
    yield from _warnings(result)
    for workload in result["workloads"]:
        yield from _workload(result, workload)
    yield from _not_judged(result)
    yield from _checks(result["checks"])
    yield from _changes(result)
    yield from _not_taken_back(result)
    yield from _at_end(result)
    for check in result["checks"]:
        if check["output"]:
            yield _format_details(output_title(check), check["output"])
    for workload in result["workloads"]:
        yield from _evidence(workload)
    yield from _steps("To look further", look_further(result))
    yield from _timeline(result)


def _verdict(result: Result) -> Iterator[str]:
    sign = _SIGNS[result_grade(result)]
    yield f"## {sign} {_plain(outcome_words(result))} ({exit_words(result)})\n"
    yield f"{_plain(sentence(result))}\n"
    yield f"**{_plain(result['reason'])}**: {_code(result['message'])}\n"
    facts = [f"{label} {_code(text)}" for label, text in surroundings(result)]
    if _URL.fullmatch(result["run_url"]):
        facts.append(f"[this run](<{result['run_url']}>)")
    yield " · ".join(facts) + "\n"


def _steps(title: str, steps: Sequence[Step]) -> Iterator[str]:
    if steps:
        lines = [f"- {_plain(step.text)}{_command(step)}" for step in steps]
        yield _format_section(title, lines)


def _command(step: Step) -> str:
    return f" {_code(step.command)}" if step.command else ""


def _warnings(result: Result) -> Iterator[str]:
    if result["warnings"]:
        yield _format_section("Warnings", [f"- {_code(warning)}" for warning in result["warnings"]])


def _workload(result: Result, workload: WorkloadResult) -> Iterator[str]:
    sign = _SIGNS[grade(workload["outcome"])]
    lines = [
        f"- ended {_plain(ending_word(result, workload))}: {_code(workload['reason'])}",
        f"- runs now: {_plain(runs_now(result, workload))}",
    ]
    before = "verified last" if is_last_verified(workload) else "before"
    both = (("new", workload["new"]), (before, workload["baseline"]))
    same = (("unchanged", workload["new"]),)
    for label, version in same if keeps_version(result, workload) else both:
        if version is not None:
            images = " ".join(map(_code, version["images"]))
            lines.append(f"- {label}: {images} {_plain(_version_name(workload, version))}")
    lines += [f"- {_plain(c['reason'])}: {_code(c['message'])}" for c in workload["causes"]]
    called = registry.of_entry(workload).call(workload["name"])
    name = f"{_plain(called)} in {_plain(workload['namespace'])}"
    yield f"### {sign} {name}\n\n" + "\n".join(line.rstrip() for line in lines) + "\n"


def _version_name(workload: WorkloadResult, version: Version) -> str:
    name = version["name"]
    return f"({registry.of_entry(workload).call_version(name)})" if name else ""


def _not_judged(result: Result) -> Iterator[str]:
    found = list_not_judged(result)
    if found:
        lines = [f"- {_code(object_name(result, item))}: {action_words(item)}" for item in found]
        yield _format_section("Not judged", lines)


def _checks(checks: Sequence[CheckResult]) -> Iterator[str]:
    if not checks:
        return
    head = ("check", "verdict", "last value", "measured", "failed", "")
    rows = [
        (
            _code_cell(check["name"]),
            _plain(check["verdict"] + ("" if check["required"] else ", not required")),
            "" if check["last_value"] is None else _plain(f"{check['last_value']:g}"),
            str(check["measurements"]),
            str(check["failures"]),
            _code_cell(check["message"]),
        )
        for check in checks
    ]
    yield f"### Checks\n\n{_table(head, rows)}"


def _changes(result: Result) -> Iterator[str]:
    rows = [
        tuple(
            _code_cell(text or "")
            for text in (
                object_name(result, item),
                change["path"],
                change["before"],
                change["after"],
            )
        )
        for item in result["objects"]
        for change in item["changes"]
    ]
    if rows:
        table = _table(("object", "field", "before", "after"), rows)
        hidden = describe_hidden_values(result)
        below = f"\n{_plain(hidden)}\n" if hidden else ""
        yield f"### What the apply changed{_back(result)}\n\n{table}{below}"


def _back(result: Result) -> str:
    """Return a note for the heading of the changes if all of them went back, else ""."""
    changed = [item for item in result["objects"] if item["changes"]]
    is_back = result["outcome"] == Outcome.ROLLED_BACK
    went_back = is_back and all(item["action"] == "restored" for item in changed)
    return " (all of it went back)" if went_back else ""


def _not_taken_back(result: Result) -> Iterator[str]:
    items = not_taken_back(result)
    if items:
        lines = [f"- {_code(object_name(result, item))}: {action_words(item)}" for item in items]
        yield _format_section("Not rolled back", lines)


def _at_end(result: Result) -> Iterator[str]:
    """Yield a table of the objects that are not as the run left them."""
    rows = [
        (
            _code_cell(object_name(result, item)),
            _plain(action_words(item)),
            _code_cell(stands(item)),
        )
        for item in result["objects"]
        if (item["at_end"] is not None and item["at_end"]["state"] not in _AS_LEFT)
        or item["action"] in ("deleting", "in-doubt")
    ]
    if rows:
        yield f"### At the end\n\n{_table(('object', 'what was done', 'how it stood'), rows)}"


def _evidence(workload: WorkloadResult) -> Iterator[str]:
    for piece in workload["evidence"]:
        yield _format_details(piece_title(workload, piece), piece["text"])


def _timeline(result: Result) -> Iterator[str]:
    lines = [
        f"{line['at_seconds']:8.1f}s  {line['event']:<10}  {' '.join(line['message'].split())}"
        for line in result["timeline"][-_MOST_TIMELINE_LINES:]
    ]
    if lines:
        yield _format_details("Timeline", "\n".join(lines))


# -- markup ----------------------------------------------------------------------------------------


def _format_section(title: str, lines: Iterable[str]) -> str:
    return f"### {title}\n\n" + "\n".join(lines) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _code_cell(text: str) -> str:
    """Return text as a code span for a table, which is split at bars before spans are parsed.

    Parsers disagree on a bar after two backslashes, so none is ever written.
    """
    return _code(text.replace("\\|", "\\ |")).replace("|", "\\|")


def _format_details(title: str, text: str) -> str:
    fence = "`" * max(3, _longest_run(text) + 1)
    shown = _plain_html(title)
    lines = "\n".join(text.splitlines())
    return f"<details><summary>{shown}</summary>\n\n{fence}text\n{lines}\n{fence}\n\n</details>\n"


def _plain_html(text: str) -> str:
    """Return text for the inside of an element, in which Markdown finds nothing to interpret."""
    return "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in _one_line(text))


def _plain(text: str) -> str:
    """Return text in which nothing is markup."""
    return _one_line(text).translate(_ESCAPED)


def _code(text: str) -> str:
    """Return text as a code span, delimited by more backticks than any run of them in it."""
    line = _one_line(text)
    if not line:
        return ""
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def _one_line(text: str) -> str:
    return " ".join(text.split())
