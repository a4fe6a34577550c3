"""Reads a result document that was written before: whoever wrote it, its text is cleaned."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from gate.errors import UsageError
from gate.report.schema.added_keys import add_later_keys
from gate.report.schema.earlier_keys import add_coverage, add_workloads
from gate.report.schema.earlier_words import add_values_of_sentences
from gate.report.schema.result import Result
from gate.wire.untrusted import clean, clean_line

MOST_BYTES: Final = 64 * 1024 * 1024
_LONGEST_TEXT: Final = 64 * 1024


def read_result(path: Path) -> Result:
    """Return the document in a file; UsageError where it is none of this schema."""
    data = _read(path)
    try:
        plain = msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        raise _no_result(path, error) from None
    return result_of(plain, path)


def result_of(plain: Any, path: Path) -> Result:
    """Return the document that JSON from `path` is; UsageError where it is none."""
    try:
        document = _clean_value(plain)
        add_workloads(document)
        add_coverage(document)
        add_values_of_sentences(document)
        add_later_keys(document)
        return msgspec.convert(document, Result)
    except (ValueError, RecursionError) as error:
        raise _no_result(path, error) from None


def _no_result(path: Path, error: Exception) -> UsageError:
    why = "nested too deeply" if isinstance(error, RecursionError) else clean_line(str(error))
    return UsageError(f"{path}: not a result document: {why}")


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"{path}: too long for a result document")
    return data


def _clean_value(value: Any) -> Any:
    """Clean every text in a JSON value; what is clean stays as it is."""
    if isinstance(value, str):
        return clean(value, _LONGEST_TEXT)
    if isinstance(value, list):
        return [_clean_value(item) for item in value]
    if isinstance(value, dict):
        return {clean_line(key): _clean_value(item) for key, item in value.items()}
    return value
