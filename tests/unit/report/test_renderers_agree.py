"""All formats of one result say the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from xml.etree import ElementTree as ET

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gate.report.formats.files import Format, render_result
from gate.report.schema.result import Result
from tests.unit.report.results import NAMES, spoilt, told, with_checks

Said = tuple[str, str, str, str]
"""Outcome, exit code, reason, message."""

words = st.text("abcXYZ 019<>&`|:/#*_", min_size=1, max_size=60).map(lambda t: f"w {t.strip()}")
results = st.sampled_from(sorted(NAMES)).map(told) | st.just(with_checks("rolled-back"))


def of_json(text: str) -> Said:
    """Read the document."""
    found = json.loads(text)
    return found["outcome"], str(found["exit_code"]), found["reason"], found["message"]


def of_junit(text: str) -> Said:
    """Read the suite's properties."""
    suite = ET.fromstring(text).find("testsuite")  # noqa: S314 - our own
    assert suite is not None
    found = {p.attrib["name"]: p.attrib["value"] for p in suite.iter("property")}
    return found["outcome"], found["exit_code"], found["reason"], found["message"]


def of_html(text: str) -> Said:
    """Read the head of the page."""
    tree = html5lib.parse(text, treebuilder="etree", namespaceHTMLElements=False)
    head = {
        str(e.attrib.get("class", e.tag)): " ".join("".join(e.itertext()).split())
        for e in tree.iter()
    }
    outcome, code = head["h1"].partition(" ")[2].split(" exit ")
    reason, _, message = head["why"].partition(": ")
    return outcome.lower().replace(" ", "-"), code, reason, message


def of_markdown(text: str) -> Said:
    """Read the heading and the line of the reason."""
    parsed = MarkdownIt("commonmark").enable("table").parse(text)
    heading, _, why = [token for token in parsed if token.type == "inline"][:3]
    found = re.fullmatch(
        r"\S+ (.+) \(exit (\d+)\)", "".join(c.content for c in heading.children or ())
    )
    assert found is not None
    parts = [child.content for child in why.children or () if child.type in ("text", "code_inline")]
    reason, message = [part for part in parts if part.strip(": ")]
    return found[1].lower().replace(" ", "-"), found[2], reason, message


def of_dotenv(text: str) -> tuple[str, str, str]:
    """Read the variables; there is no message among them."""
    found = dict(line.split("=") for line in text.split())
    return found["GATE_OUTCOME"], found["GATE_EXIT_CODE"], found["GATE_REASON"]


READERS: dict[Format, Callable[[str], Said]] = {
    Format.JSON: of_json,
    Format.JUNIT: of_junit,
    Format.HTML: of_html,
    Format.MARKDOWN: of_markdown,
}


@pytest.mark.contract("B560")
@settings(max_examples=15)
@given(result=results, message=words)
def test_every_format_says_the_same(result: Result, message: str) -> None:
    """Outcome, exit code, reason and message, whatever the message is."""
    bent = {**spoilt(result, "x"), "message": message, "run_url": ""}
    expected = (
        result["outcome"], str(result["exit_code"]), result["reason"], " ".join(message.split()),
    )  # fmt: skip
    for form, read in READERS.items():
        *head, said = read(render_result(form, bent))  # type: ignore[arg-type]
        assert (*head, " ".join(said.split())) == expected, form
    assert of_dotenv(render_result(Format.DOTENV, bent)) == expected[:3]  # type: ignore[arg-type]


@pytest.mark.contract("B560")
def test_no_format_is_left_out() -> None:
    """A format that comes to be is held to the same."""
    assert set(Format) == {*READERS, Format.TEXT, Format.DOTENV}
