"""The formats of a report, known to options without what writes them."""

from __future__ import annotations

import enum


class Format(enum.StrEnum):
    """The formats of `--report FORMAT=FILE`."""

    JSON = "json"
    TEXT = "text"
    JUNIT = "junit"
    MARKDOWN = "markdown"
    HTML = "html"
    DOTENV = "dotenv"
