"""Whatever a pod, an event or a manifest says, each rendering has it as text and nothing else."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gate.report.formats.junit import junit
from gate.report.formats.markdown import markdown
from gate.report.formats.outputs import dotenv, one_line, outputs
from gate.report.html import html
from gate.report.schema.result import Result
from tests.table import each
from tests.unit.report.results import HOSTILE, NAMES, example, spoilt, with_checks

HARMLESS = "word"
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])

few = settings(max_examples=settings().max_examples * 2 // 5)
"""A browser's parser takes its time; `make properties` searches on."""

WITH_CHECKS = "rolled-back with checks"
texts = st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=3).map("".join) | st.text()
endings = st.sampled_from([*sorted(NAMES), WITH_CHECKS])


def shape_of_html(page: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return every element with its attributes' names, as a browser reads the page."""
    tree = html5lib.parse(page, treebuilder="etree", namespaceHTMLElements=False)
    return [(str(e.tag), tuple(sorted(map(str, e.attrib)))) for e in tree.iter()]


def shape_of_xml(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return every element with its attributes' names; raises where it is no XML."""
    return [(e.tag, tuple(sorted(e.attrib))) for e in ET.fromstring(text).iter()]  # noqa: S314 - our own


def shape_of_markdown(text: str) -> list[str]:
    """Return the types of all tokens but of text, code and what merely breaks lines."""
    plain = ("text", "softbreak")
    return [token.type for token in tokens(text) if token.type not in plain]


def tokens(text: str) -> list[Any]:
    """Return the blocks and, of each, what stands in it."""
    return [inner for token in PARSER.parse(text) for inner in (token, *(token.children or ()))]


RENDERERS: list[tuple[Callable[[Result], str], Callable[[str], Any]]] = [
    (html, shape_of_html),
    (junit, shape_of_xml),
    (markdown, shape_of_markdown),
]


@functools.cache
def harmless(ending: str, render: Callable[[Result], str], shape: Callable[[str], Any]) -> Any:
    """Return the shape of an ending's page whose words do no harm."""
    return shape(render(spoilt(normal(ending), HARMLESS)))


def ended(ending: str) -> Result:
    """Return the document of an ending."""
    return with_checks("rolled-back") if ending == WITH_CHECKS else example(ending)


def normal(ending: str) -> Result:
    """Return the document without a link, which only a web address can be."""
    return {**ended(ending), "run_url": ""}


@pytest.mark.contract("B561")
@pytest.mark.parametrize(("render", "shape"), RENDERERS)
@each("words", HOSTILE)
def test_no_text_makes_markup(
    render: Callable[[Result], str], shape: Callable[[str], Any], words: str
) -> None:
    """The parsed page has the same elements, whether the text is harmless or not."""
    page = render(spoilt(normal(WITH_CHECKS), f"{words}."))
    assert shape(page) == harmless(WITH_CHECKS, render, shape)


@pytest.mark.contract("B561")
@few
@given(ending=endings, words=texts)
def test_no_text_makes_markup_by_chance(ending: str, words: str) -> None:
    """The same of words of any kind, in every ending."""
    bad = spoilt(normal(ending), f"a{words}b")
    for render, shape in RENDERERS:
        assert shape(render(bad)) == harmless(ending, render, shape)


@pytest.mark.contract("B561", "B564")
def test_the_page_has_no_script_and_no_handler() -> None:
    """Neither its own nor one that came with a text; and nothing is loaded."""
    page = html(spoilt(with_checks("rolled-back"), "".join(HOSTILE)))
    tree = html5lib.parse(page, treebuilder="etree", namespaceHTMLElements=False)
    names = {str(element.tag).rpartition("}")[2] for element in tree.iter()}
    assert not names & {"script", "iframe", "object", "embed", "img", "link", "form", "base"}
    for element in tree.iter():
        for name, value in element.attrib.items():
            assert not str(name).startswith("on")
            assert str(name) not in ("src", "href", "action") or value.startswith("http")


@pytest.mark.contract("B561")
def test_the_words_are_there_as_they_are() -> None:
    """What a person reads is what was said, but for white space and what no page can hold."""
    page = html(spoilt(example("rolled-back"), "\n".join(HOSTILE)))
    tree = html5lib.parse(page, treebuilder="etree", namespaceHTMLElements=False)
    read = " ".join("".join(tree.itertext()).split())
    for words in filter(str.isprintable, HOSTILE):
        assert " ".join(words.split()) in read
        summary = "".join(
            t.content for t in tokens(markdown(spoilt(example("rolled-back"), words)))
        )
        assert " ".join(words.split()) in " ".join(summary.split())


@pytest.mark.contract("B561", "B571")
@few
@given(ending=endings, words=texts)
def test_no_text_makes_an_output(ending: str, words: str) -> None:
    """Values are of closed sets, and the document is one line of ASCII."""
    bad = spoilt(ended(ending), words)
    assert all(re.fullmatch(r"[A-Za-z0-9-]*", value) for value in outputs(bad).values())
    assert all(re.fullmatch(r"GATE_[A-Z_]+=[A-Za-z0-9-]*", line) for line in dotenv(bad).split())
    line = one_line(bad)
    assert line.isascii()
    assert line.isprintable()
    assert len(line) <= 100 * 1024


@pytest.mark.contract("B563")
@pytest.mark.parametrize("words", ["`" * 5, "~" * 9, "``````\n```\n`" * 3])
def test_a_fence_is_longer_than_what_it_holds(words: str) -> None:
    """The text of a log comes out of its fence as it went in."""
    result = spoilt(example("rolled-back"), words)
    fences = [token.content for token in tokens(markdown(result)) if token.type == "fence"]
    pieces = [piece for deployment in result["workloads"] for piece in deployment["evidence"]]
    assert fences[: len(pieces)] == [f"{words}\n".replace("\n\n", "\n") for _ in pieces]
