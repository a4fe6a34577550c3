"""Questions as people read them, and the place in a query that a server complains about."""

from __future__ import annotations

import shlex
from typing import Final

from gate.core.checks.questions import CommandQuestion, HttpQuestion, MetricQuestion, Question
from gate.core.checks.tick_questions import split_counted
from gate.report.style.style import Style, columns

_ROOM: Final = 100
_LINES_NEAR: Final = 3
_CUT: Final = "..."


def question_text(question: Question) -> str:
    """Return a question as text: a query, a command, or a URL without what may be secret in it."""
    match question:
        case MetricQuestion(query=query):
            return query
        case HttpQuestion(method=method, url=url):
            bare, mark, _ = url.partition("?")
            return f"{method} {bare}{f'{mark}...' if mark else ''}"
        case CommandQuestion(arguments=arguments):
            return shlex.join(arguments)


def list_queries(text: str) -> list[tuple[str, str]]:
    """Return the queries that a question asks, as configured, each with its key.

    A comparison by counts asks for `bad` and `total` at once; any other question has the key "".
    """
    return [(str(key), query) for key, query in split_counted(text)] or [("", text)]


def show_queries(
    text: str, position: tuple[int, int] | None, style: Style | None = None, room: int = _ROOM
) -> list[tuple[str, list[str]]]:
    """Return each query's key and lines; of one with a mistake those near its `position`."""
    if position is None:
        return [(key, query.rstrip().split("\n")) for key, query in list_queries(text)]
    key, query, own = _locate(text, position)
    return [(key, point_at_place(query, own, style, room))]


def _locate(text: str, position: tuple[int, int]) -> tuple[str, str, tuple[int, int]]:
    """Return the key and the query that hold a place, and the place in it, else the whole text."""
    whole, (line, column) = text.encode(), position
    at = sum(len(each) + 1 for each in whole.split(b"\n")[: line - 1]) + column - 1
    end = 0
    for key, query in split_counted(text):
        start = whole.find(query.encode(), end)
        end = start + len(query.encode())
        if start <= at <= end:
            before = whole[start:at]
            own = before.count(b"\n") + 1, len(before.rpartition(b"\n")[2]) + 1
            return str(key), query, own
    return "", text, position


def point_at_place(
    query: str, position: tuple[int, int], style: Style | None = None, room: int = _ROOM
) -> list[str]:
    """Return a query with a caret below the place that is meant; of a long one what is near it.

    `position` is line and column, both from 1; Prometheus counts columns in bytes. If the query has
    no such place, it is returned without a caret. No line is wider than `room` columns.
    """
    line, column = position
    lines = query.rstrip("\n").split("\n")
    shown = style or Style()
    if not 1 <= line <= len(lines) or column < 1:
        return [shown.cut(each, room) for each in lines]
    text = lines[line - 1]
    at = len(text.encode()[: column - 1].decode("utf-8", "ignore"))
    above = lines[max(0, line - 1 - _LINES_NEAR) : line - 1]
    below = lines[line : line + _LINES_NEAR]
    return [
        *(shown.cut(other, room) for other in above),
        *_mark_line(text, at, shown, room),
        *(shown.cut(other, room) for other in below),
    ]


def _mark_line(text: str, at: int, style: Style, room: int) -> list[str]:
    """Return a line and its mark; what is before the place keeps two thirds of the room."""
    start = 0 if columns(style.printable(text)) <= room else max(0, at - room * 2 // 3)
    head = _CUT if start else ""
    margin = head + style.printable(text[start:at])
    line = style.cut(head + style.printable(text[start:]), room)
    return [line, " " * columns(margin) + "^"]
