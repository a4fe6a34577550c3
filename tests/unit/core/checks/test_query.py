"""What is written into a check: queries with variables, paths in JSON, an interval."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.core.checks.json_path import number_at, parse
from gate.core.checks.query_template import MOST_CHARACTERS, Query, QueryError
from gate.core.checks.query_variables import (
    Version,
    user_variable_fault,
    values,
    window_seconds,
)
from gate.core.checks.spec import Schedule
from gate.core.kinds.check_variables import BUILT_IN, OF_VERSIONS
from tests.table import each
from tests.unit.core.checks_world import SUBJECT


def resolved(text: str, **named: str) -> str:
    """Resolve a query whose variables are exactly those that are given."""
    return Query.parse(text, named).resolve(named)


@pytest.mark.contract("B418")
@pytest.mark.parametrize(
    ("text", "value", "wanted"),
    [
        ('x{a="${v}"}', 'q"b\\s', r'x{a="q\"b\\s"}'),
        ("x{a='${v}'}", "it's", r"x{a='it\'s'}"),
        ("x{a=`${v}`}", 'q"b\\s', 'x{a=`q"b\\s`}'),
        ('x{a=~"${v}-.*"}', "a.b", r'x{a=~"a\\.b-.*"}'),
        ("x{a!~'${v}'}", "a|b", r"x{a!~'a\\|b'}"),
        ("x{a=~`${v}`}", "a.b", r"x{a=~`a\.b`}"),
        ('x{a=~ # why\n "${v}"}', "a+", 'x{a=~ # why\n "a\\\\+"}'),
        ('x{a=~"b",c="${v}"}', "a.b", 'x{a=~"b",c="a.b"}'),
        ('x{a="=~",c="${v}"}', "a.b", 'x{a="=~",c="a.b"}'),
        ('x{a="\\"",c=~"${v}"}', "a.b", r'x{a="\"",c=~"a\\.b"}'),
        ("rate(x[${v}])", "47s", "rate(x[47s])"),
        ("rate(${v}[1m])", "http_requests:rate5m", "rate(http_requests:rate5m[1m])"),
        ('x{a="${v}"}', "a\nb", 'x{a="a\\U0000000ab"}'),
    ],
)
def test_a_value_is_escaped_for_its_place(text: str, value: str, wanted: str) -> None:
    """Strings by PromQL's rules, regular expressions by RE2's as well, tokens as they are."""
    assert resolved(text, v=value) == wanted


@pytest.mark.contract("B418")
@pytest.mark.parametrize("value", ["web-1", "1 or vector(1)", "x{}", "", "5s]", '"'])
def test_only_single_tokens_stand_outside_of_strings(value: str) -> None:
    """There is no escape there: what is more than a token is an error with its position."""
    with pytest.raises(QueryError, match="outside a string") as caught:
        resolved("sum(${v})", v=value)
    assert caught.value.position == 5


@pytest.mark.contract("B418")
@pytest.mark.parametrize("name", sorted(OF_VERSIONS))
def test_what_names_a_version_always_stands_in_a_string(name: str) -> None:
    """Found as the query is read: some hashes would do as a token, and the next one not."""
    Query.parse(f'x{{a="${{{name}}}"}}', BUILT_IN)
    with pytest.raises(QueryError, match="outside a string") as caught:
        Query.parse(f"sum(x_${{{name}}})", BUILT_IN, OF_VERSIONS)
    assert caught.value.position == 7


@pytest.mark.contract("B418")
def test_backticks_cannot_be_escaped() -> None:
    """A raw string has no escapes, so a value with a backtick cannot stand in one."""
    with pytest.raises(QueryError, match="backticks"):
        resolved("x{a=`${v}`}", v="a`b")


@pytest.mark.contract("B418")
@given(value=st.text(st.characters(codec="utf-8"), max_size=30))
def test_no_value_leaves_its_string(value: str) -> None:
    """Whatever is put into a quoted string, the string ends where the query says."""
    for quote in "\"'":
        text = resolved(f"x{{a={quote}${{v}}{quote}}}", v=value)
        inside = re.fullmatch(rf"x\{{a={quote}((?:[^{quote}\\\n]|\\.)*){quote}\}}", text, re.DOTALL)
        assert inside is not None, text


@pytest.mark.contract("B418")
@pytest.mark.parametrize(
    ("text", "position", "hint"),
    [
        ('x{a="${replicset}"}', 6, "known are baseline_"),
        ("rate(x[${nothing_like_it}])", 8, "known are "),
        ("x ${", 3, "variables are ${name}"),
        ('x{a="${two words}"}', 6, "variables are ${name}"),
        ("${Upper}", 1, "variables are ${name}"),
    ],
)
def test_what_is_no_known_variable_is_named_with_its_position(
    text: str, position: int, hint: str
) -> None:
    """Before anything is applied."""
    with pytest.raises(QueryError) as caught:
        Query.parse(text, BUILT_IN)
    assert caught.value.position == position
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize("text", ["", "  \n", "x" * (MOST_CHARACTERS + 1)])
def test_a_query_that_is_empty_or_endless_is_refused(text: str) -> None:
    """Neither can be what was meant."""
    with pytest.raises(QueryError):
        Query.parse(text, BUILT_IN)


@pytest.mark.contract("B418")
def test_all_variables_have_their_values() -> None:
    """Each of the page, of one subject at one moment."""
    assert values(SUBJECT, 100.0, 60.0, {"route": "/pay"}) == {
        "namespace": "shop",
        "deployment": "web",
        "replicaset": "web-new",
        "pod_template_hash": "new",
        "baseline_replicaset": "web-old",
        "baseline_pod_template_hash": "old",
        "revision": "7",
        "window": "60s",
        "elapsed": "100s",
        "route": "/pay",
    }


def test_the_baselines_side_has_the_baselines_names() -> None:
    """A comparison asks the same query for both; without a baseline nothing is known of it."""
    theirs = values(SUBJECT.as_baseline(), 200.0, 60.0, {})
    assert theirs["replicaset"] == "web-old"
    assert theirs["pod_template_hash"] == "old"
    alone = replace(SUBJECT, baseline=None)
    assert "replicaset" not in values(alone.as_baseline(), 10.0, 60.0, {})


@pytest.mark.contract("B418")
@pytest.mark.parametrize("name", ['web"} or vector(0) #', "Web", "web_1", "a" * 254, "web\n"])
def test_names_that_kubernetes_cannot_have_are_refused(name: str) -> None:
    """Only validated names are substituted."""
    with pytest.raises(ValueError, match="not a replicaset"):
        values(replace(SUBJECT, new=Version(name, "1")), 1.0, 60.0, {})


@pytest.mark.contract("B419")
@pytest.mark.parametrize(
    ("configured", "available_at", "now", "wanted"),
    [
        (60.0, 100.0, 500.0, 60),
        (60.0, 100.0, 147.9, 47),
        (60.0, 100.0, 101.0, 1),
        (60.0, 100.0, 100.9, None),
        (60.0, 100.0, 99.0, None),
        (60.0, None, 500.0, None),
    ],
)
def test_the_window_never_reaches_into_the_old_versions_time(
    configured: float, available_at: float | None, now: float, wanted: int | None
) -> None:
    """The smaller of the configured one and the age of the first available new pod."""
    assert window_seconds(configured, available_at, now) == wanted


@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("route", "/pay now", False),
        ("Route", "x", True),
        ("window", "5m", True),
        ("route", "", True),
        ("route", "a\nb", True),
        ("route", "x" * 257, True),
    ],
)
def test_a_users_variables_are_checked(name: str, value: str, wrong: bool) -> None:
    """One line, under a name that is not taken."""
    assert (user_variable_fault(name, value, BUILT_IN) is not None) is wrong


@each(
    ("text", "path"),
    [
        ("$.items[0].ready", ("items", 0, "ready")),
        ("ready", ("ready",)),
        ("$[\"a.b\"]['c']", ("a.b", "c")),
        ("$[2]", (2,)),
    ],
)
def test_json_paths_are_keys_and_indexes(text: str, path: tuple[str | int, ...]) -> None:
    """With or without the root's sign."""
    assert parse(text) == path


@each("text", ["", "$", "$.", "$..a", "a b", "$[*]", "$[-1]", "$a", "a[0]b"])
def test_what_is_no_json_path_is_refused(text: str) -> None:
    """No wildcards, no filters: one value, or none."""
    with pytest.raises(ValueError, match="JSON path"):
        parse(text)


@each(
    ("document", "number"),
    [({"a": [1, 2.5]}, 2.5), ({"a": [1, True]}, 1.0), ({"a": [1, "2"]}, None), ({"a": [1]}, None),
     ({"a": {"1": 2}}, None), ([], None), ({"a": [1, 10**400]}, None)],
)  # fmt: skip
def test_a_json_path_leads_to_a_number_or_nowhere(document: object, number: float | None) -> None:
    """Text that looks like a number is none."""
    assert number_at(document, ("a", 1)) == number


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan])
def test_an_interval_without_ticks_is_a_bug_of_its_maker(seconds: float) -> None:
    """The ticks of a check come one after another; what people write is refused before."""
    with pytest.raises(ValueError, match="not an interval"):
        Schedule(seconds)
