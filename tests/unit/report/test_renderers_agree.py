"""All formats of one result say the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from xml.etree import ElementTree as ET

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gate.report.formats.files import render_result
from gate.report.formats.format import Format
from gate.report.schema.result import Result
from tests.unit.report.results import NAMES, example, spoilt, with_checks

words = st.text("abcXYZ 019<>&`|:/#*_", min_size=1, max_size=60).map(lambda t: f"w {t.strip()}")
results = st.sampled_from(sorted(NAMES)).map(example) | st.just(with_checks("rolled-back"))


def of_json(text: str) -> str:
    """Return the values of the document's head."""
    return " ".join(str(value) for value in json.loads(text).values())


def of_junit(text: str) -> str:
    """Return the suite's properties."""
    found = ET.fromstring(text).iter("property")  # noqa: S314 - our own
    return " ".join(one.attrib["value"] for one in found)


def of_html(text: str) -> str:
    """Return what a reader of the page sees."""
    tree = html5lib.parse(text, treebuilder="etree", namespaceHTMLElements=False)
    return " ".join(tree.itertext())


def of_markdown(text: str) -> str:
    """Return what a reader of the summary sees."""
    blocks = MarkdownIt("commonmark").enable("table").parse(text)
    return "".join(child.content for block in blocks for child in block.children or ())


READERS: dict[Format, Callable[[str], str]] = {
    Format.TEXT: str,
    Format.DOTENV: lambda text: text.replace("=", " "),
    Format.JSON: of_json,
    Format.JUNIT: of_junit,
    Format.HTML: of_html,
    Format.MARKDOWN: of_markdown,
}


@pytest.mark.contract("B560")
@settings(max_examples=15)
@given(result=results, message=words)
def test_every_format_says_the_same(result: Result, message: str) -> None:
    """Outcome and exit code; reason and message, whatever that is, where there is room for them."""
    bent: Result = {**spoilt(result, "x"), "message": message, "run_url": ""}
    assert set(READERS) == set(Format), "a format that comes to be is held to the same"
    for form, read in READERS.items():
        shown = " ".join(read(render_result(form, bent)).lower().replace("-", " ").split())
        expected = [result["outcome"], str(result["exit_code"])]
        if form is not Format.TEXT:
            expected.append(result["reason"])
        if form not in (Format.TEXT, Format.DOTENV):
            expected.append(message)
        for part in expected:
            assert " ".join(part.lower().replace("-", " ").split()) in shown, form
