"""Writes reports to files, in the format that was asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from gate.report.formats.format import Format
from gate.report.formats.outputs import dotenv
from gate.report.formats.text import verdict_text
from gate.report.schema.printed_result import with_deployments
from gate.report.schema.result import Result
from gate.report.style.style import Style
from gate.wire.files import put


def json_text(result: Result) -> str:
    """Return the document as indented JSON with a line feed at its end."""
    return json.dumps(with_deployments(result), indent=2, ensure_ascii=False) + "\n"


def render_result(form: Format, result: Result) -> str:
    """Return the document in a format; libraries are loaded only for the format that needs them."""
    return _RENDER[form](result)


def _junit(result: Result) -> str:
    from gate.report.formats.junit import junit

    return junit(result)


def _markdown(result: Result) -> str:
    from gate.report.formats.markdown import markdown

    return markdown(result)


def _html(result: Result) -> str:
    from gate.report.html import html

    return html(result)


_RENDER: dict[Format, Callable[[Result], str]] = {
    Format.JSON: json_text,
    Format.TEXT: lambda result: verdict_text(result, Style(), is_whole=True),
    Format.JUNIT: _junit,
    Format.MARKDOWN: _markdown,
    Format.HTML: _html,
    Format.DOTENV: dotenv,
}


def write_report(form: Format, path: Path, result: Result) -> str | None:
    """Write the document to `path` as UTF-8; return a warning if that fails, and never raise.

    `put` says what happens to the file.
    """
    try:
        put(path, render_result(form, result).encode("utf-8", "replace"))
    except Exception as error:  # noqa: BLE001 - no fault of a report may change the verdict
        why = error.strerror if isinstance(error, OSError) and error.strerror else repr(error)
        return f"the report {form}={path} could not be written: {why}"
    return None
