"""The result as one self-contained page: no script, no request, readable without its styles."""

from __future__ import annotations

from gate.report.html.page import html

__all__ = ["html"]
