"""What `checks` prints for people: a table, or with `--explain` each number's way to its verdict.

Reads only the document. Queries that are explained are never cut: they are there to be copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.core.checks.measurement import Kind
from gate.report.check_report.figures import number
from gate.report.check_report.query_pointer import list_queries, show_queries
from gate.report.schema.check_result import AskedCheckResult, ChecksResult, QuestionResult
from gate.report.style.style import Style, Symbol, Tone, columns, pad

_HEAD: Final = ("CHECK", "VERDICT", "VALUE", "BOUNDS")
_INDENT: Final = "    "
_LABEL_COLUMNS: Final = 13
_LONGEST_NAME: Final = 32
_MOST_LINES: Final = 4
_OUTPUT_LINES: Final = 10
_BARE: Final = ("", "{}")
_SIGNS: Final = {
    Kind.PASS: (Symbol.GOOD, Tone.GOOD),
    Kind.FAIL: (Symbol.BAD, Tone.BAD),
    Kind.NO_DATA: (Symbol.UNSURE, Tone.UNSURE),
    Kind.ERROR: (Symbol.UNSURE, Tone.BAD),
}


def checks_table(result: ChecksResult, style: Style) -> str:
    """Return a row for each check, its query below it, and the conclusion from all."""
    rows = [_cells(check) for check in result["checks"]]
    shown = [[style.cut(cell, _LONGEST_NAME) for cell in row] for row in (_HEAD, *rows)]
    widths = [max(map(columns, column)) for column in zip(*shown, strict=True)]
    lines = [f"  {_row(shown[0], widths)}".rstrip()]
    for check, cells in zip(result["checks"], shown[1:], strict=True):
        lines.append(f"{_sign(check, style)} {_row(cells, widths)}{_note(check)}".rstrip())
        lines += _below(check, style)
    return "\n".join([*lines, "", *_end(result, style, explained=False)]) + "\n"


def checks_explained(result: ChecksResult, style: Style) -> str:
    """Return for each check what was asked, what came back, and what each rule made of it."""
    lines: list[str] = []
    for check in result["checks"]:
        title = f"{check['name']} ({_kind(check)})"
        lines.append(f"{_sign(check, style)} {style.cut(title, style.width - 2)}")
        for question in check["questions"]:
            lines += _iter_question_lines(check, question, style)
        for rule in check["rules"]:
            lines += _rule(rule["rule"], rule["says"], style)
        if check["hint"]:
            lines += _label_lines("hint", check["hint"], style)
        lines.append("")
    return "\n".join([*lines, *_end(result, style, explained=True)]) + "\n"


def _cells(check: AskedCheckResult) -> tuple[str, ...]:
    value = check["value"]
    shown = "-" if value is None else number(value)
    return (check["name"], check["verdict"], shown, check["bounds"] or "-")


def _row(cells: list[str], widths: list[int]) -> str:
    return "  ".join(pad(cell, width) for cell, width in zip(cells, widths, strict=True))


def _sign(check: AskedCheckResult, style: Style) -> str:
    symbol, tone = _SIGNS[check["verdict"]]
    return style.paint(style.sign(symbol), tone)


def _note(check: AskedCheckResult) -> str:
    return "" if check["decides"] else "  reports only"


def _below(check: AskedCheckResult, style: Style) -> Iterator[str]:
    """Yield the lines below a row: the question, where it is wrong, and why it is not a pass."""
    room = style.width - len(_INDENT)
    for question in check["questions"]:
        place = check["mistake"]
        if place is not None and place["role"] == question["role"]:
            yield from _point_lines(question, place["line"], place["column"], style)
        elif question["role"] == "value":
            for key, query in list_queries(question["text"]):
                line = " ".join([f"{key}:", *query.split()] if key else query.split())
                yield _INDENT + style.cut(line, room)
    if check["verdict"] is not Kind.PASS:
        why = " ".join(filter(None, [check["message"], _format_hint(check)]))
        yield from (_INDENT + line for line in style.wrap(why, room, _MOST_LINES))


def _format_hint(check: AskedCheckResult) -> str:
    return f"({check['hint']})" if check["hint"] else ""


def _point_lines(question: QuestionResult, line: int, column: int, style: Style) -> Iterator[str]:
    room = style.width - len(_INDENT)
    for key, lines in show_queries(question["text"], (line, column), style, room):
        yield from (_INDENT + text for text in ([f"{key}:"] if key else []) + lines)


def _end(result: ChecksResult, style: Style, *, explained: bool) -> list[str]:
    said = f"exit {result['exit_code']}: {result['message']}"
    more = "" if explained else "; --explain says why"
    return style.wrap(said + more, style.width, 2)


# -- one check, explained --------------------------------------------------------------------------


def _kind(check: AskedCheckResult) -> str:
    about = f", {check['about']}" if check["about"] else ""
    reports = "" if check["decides"] else ", reports only"
    return f"{check['source']}{about}{reports}"


def _iter_question_lines(
    check: AskedCheckResult, question: QuestionResult, style: Style
) -> Iterator[str]:
    is_value, mistake = question["role"] == "value", check["mistake"]
    is_here = mistake is not None and mistake["role"] == question["role"]
    place = (mistake["line"], mistake["column"]) if mistake is not None and is_here else None
    room = style.width - len(_INDENT) - _LABEL_COLUMNS
    for key, lines in show_queries(question["text"], place, style, room):
        label = key if is_value else f"old {key}" if key else question["role"]
        yield from _under(label or "asked", [style.printable(line) for line in lines])
    if question["answer"]:
        yield from _label_lines("came back", question["answer"], style)
    labelled = any(each["labels"] not in _BARE for each in question["series"])
    if question["series_count"] > 1 or labelled:
        yield from _series(question, style)
    for remark in question["remarks"]:
        yield from _label_lines("remark", remark, style)


def _series(question: QuestionResult, style: Style) -> Iterator[str]:
    widest = max(columns(each["value"]) for each in question["series"])
    room = style.width - len(_INDENT) - _LABEL_COLUMNS - widest - 4
    lines = [
        f"{style.sign(Symbol.QUOTE)}{pad(each['value'], widest)}  "
        f"{style.cut(each['labels'], room)}".rstrip()
        for each in question["series"]
    ]
    more = question["series_count"] - len(lines)
    if more:
        lines.append(f"{style.sign(Symbol.QUOTE)}and {more} more")
    yield from _under("", lines)


def _rule(rule: str, says: str, style: Style) -> Iterator[str]:
    """Yield what a rule says; of what a command wrote, the last lines, not wrapped."""
    if rule != "output":
        yield from _label_lines(rule, says, style)
        return
    room = style.width - len(_INDENT) - _LABEL_COLUMNS - 2
    lines = [f"{style.sign(Symbol.QUOTE)}{style.cut(line, room)}" for line in says.splitlines()]
    yield from _under(rule, lines[-_OUTPUT_LINES:])


def _label_lines(label: str, text: str, style: Style) -> Iterator[str]:
    room = style.width - len(_INDENT) - _LABEL_COLUMNS
    yield from _under(label, style.wrap(text, room, _MOST_LINES))


def _under(label: str, lines: list[str]) -> Iterator[str]:
    """Yield lines in their column, the label before the first."""
    for at, line in enumerate(lines):
        yield f"{_INDENT}{pad('' if at else label, _LABEL_COLUMNS)}{line}".rstrip()
