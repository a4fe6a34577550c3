"""Which label selectors the API server can parse."""

from __future__ import annotations

import pytest

from gate.kube.paths.label_selector import find_wrong_term
from tests.table import each

GOOD = [
    *("app=web", "app==web", "app!=web", "app", "!app", "! app", "app=", "app!="),
    *("app in (web)", "app in(web,api)", "app notin ( web , api )", "app in ()", "app in (,a)"),
    *("a=b,c", " a = b , !c ", "a in (b,c),d notin (e),f", "in in (in)", "a=in"),
    *("x > 5", "x<-1", "app.kubernetes.io/name=web", "example.com/a_b.c-d", f"{'a' * 63}"),
]
BAD = [
    ("", ""),
    ("=web", "=web"),
    ("a b", "a b"),
    ("team in a", "team in a"),
    ("a in (b", "a in (b"),
    ("a=b,", ""),
    ("a=b,,c", ""),
    ("a=b,-c=d", "-c=d"),
    ("a=b c", "a=b c"),
    ("a=(b)", "a=(b)"),
    ("a=b=c", "a=b=c"),
    ("!a=b", "!a=b"),
    ("a > b", "a > b"),
    ("a in (b),c in (d e)", "c in (d e)"),
    ("a=-b", "a=-b"),
    (f"{'a' * 64}", f"{'a' * 64}"),
    (f"a={'b' * 64}", f"a={'b' * 64}"),
    ("Example.com/a", "Example.com/a"),
    ("/a=b", "/a=b"),
    ("a/=b", "a/=b"),
]


@pytest.mark.contract("B208")
@each("selector", GOOD)
def test_what_the_server_parses_has_no_wrong_term(selector: str) -> None:
    """Space is free between words; values may be empty."""
    assert find_wrong_term(selector) is None


@pytest.mark.contract("B208")
@each(("selector", "term"), BAD)
def test_the_first_term_that_the_server_cannot_parse_is_named(selector: str, term: str) -> None:
    """By its form, its key or its values."""
    assert find_wrong_term(selector) == term
