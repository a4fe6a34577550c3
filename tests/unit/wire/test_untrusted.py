"""What may come in, and what of it must not come out."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.wire.untrusted import LINE_LIMIT, TEXT_LIMIT, clean, clean_line

VISIBLE_FORMATS = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2")
VISIBLE_FORMATS |= set("\U000110bd\U000110cd")
"""Of Unicode's category Cf: signs that are printed around the digits after them."""

PIECES = [*"[]\\ \t\r\n:#é", "31m", "::", "##[", "##vso[", "error"]
PIECES += [*"\x00\x07\x1b\x9b\x9c\x9d\u200b\u202e\ud800"]
anything = st.text() | st.lists(st.sampled_from(PIECES)).map("".join)
HARMFUL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\ud800-\udfff]")
COMMAND = re.compile(r"(?mi)^\s*::|##(\[|vso\[|teamcity\[)")


@pytest.mark.contract("B176")
@pytest.mark.parametrize(
    ("given_text", "cleaned"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b1;31mred\x9bm", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9d0;title\x9cafter", "after"),
        ("\x1bP+q\x1b\\after\x1b(B\x1b7", "after"),
        ("\x1b]0;never ended\nnext line", "0;never ended\nnext line"),
        ("a\x1b", "a"),
        ("cut\x1b[3", "cut"),
        ("10%\r50%\r100%\r\ndone", "10%\n50%\n100%\ndone"),
        ("a\x0bb\x0cc\x85d\u2028e", "a\nb\nc\nd\ne"),
        ("a\x00\x08\x7f\x80b\tc", "ab\tc"),
        ("user\u202egnp.exe\u2066x\u2069", "usergnp.exex"),
        ("a\u200b\u200d\ufeff\u00adb\U000e0041", "ab"),
        ("a\ud800b", "ab"),
        ("Größe 你好 🚀", "Größe 你好 🚀"),
        (b"caf\xc3\xa9 \xff", "café \ufffd"),
    ],
)
def test_clean_takes_out_what_terminals_act_on(given_text: str | bytes, cleaned: str) -> None:
    """Escapes go whole, other control characters and invisible ones alone, text stays."""
    assert clean(given_text) == cleaned


@pytest.mark.contract("B176")
@pytest.mark.parametrize(
    ("given_text", "cleaned"),
    [
        ("::error::broken", ": :error::broken"),
        ("ok\n  ::set-output name=x::y", "ok\n  : :set-output name=x::y"),
        ("\u00a0::add-mask::x", "\u00a0: :add-mask::x"),
        ("::er\x00ror::", ": :error::"),
        (":\u200b:error::", ": :error::"),
        ("x\r::error::", "x\n: :error::"),
        (":::error::", ": ::error::"),
        ("at std::vector", "at std::vector"),
        ("##[group]x", "# #[group]x"),
        ("see ##[error]x", "see # #[error]x"),
        ("###[error]x", "## #[error]x"),
        ("##VSO[task.setvariable]", "# #VSO[task.setvariable]"),
        ("##teamcity[testFailed]", "# #teamcity[testFailed]"),
        ("## heading", "## heading"),
    ],
)
def test_clean_disarms_workflow_commands(given_text: str, cleaned: str) -> None:
    """No line starts a command of a CI host, also where cleaning would have made one."""
    assert clean(given_text) == cleaned


@pytest.mark.contract("B176")
def test_text_is_cut_to_its_bound() -> None:
    """What is too long ends in an ellipsis, within the bound; what just fits is whole."""
    assert len(clean("x" * 100_000)) == TEXT_LIMIT
    assert len(clean_line("é" * 100_000)) == LINE_LIMIT
    assert clean("x" * 10, limit=10) == "x" * 10
    assert clean("x" * 11, limit=10) == "x" * 9 + "…"
    assert clean_line("é\n" * 6, limit=4) == "é é…"


def test_every_control_and_format_character_is_taken_out() -> None:
    """Of Cc, Cf, Cs, Zl and Zp only line feed, tab and the signs that are printed remain."""
    unseen = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    left = {
        mark
        for mark in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(mark) in unseen and mark in clean(f"a{mark}b")
    }
    assert left == {"\n", "\t"} | VISIBLE_FORMATS


@given(anything, st.integers(min_value=1, max_value=40))
def test_what_comes_out_is_harmless(text: str, limit: int) -> None:
    """Whatever comes in: no escape, no control, no command at a line's start, not too long."""
    cleaned = clean(text, limit)
    assert len(cleaned) <= limit
    assert not HARMFUL.search(cleaned)
    assert not COMMAND.search(cleaned)
    assert not COMMAND.search(clean_line(text, limit))
    assert "\n" not in clean_line(text, limit)
