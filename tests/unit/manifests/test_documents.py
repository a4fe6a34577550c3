"""YAML and JSON: what a document means, what is refused with its place, what it may cost."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gate.manifests.bounds import Budget, Limits
from gate.manifests.documents import documents, plain
from gate.manifests.source import ManifestError
from tests.table import each

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + level)}: &{chr(98 + level)} [{', '.join([f'*{chr(97 + level)}'] * 9)}]\n"
    for level in range(20)
)


STACKED = "a: &a0 [x]\n" + "".join(f"b{n}: &a{n + 1} [*a{n}]\n" for n in range(70))
WIDE = ("a: &a {" + ", ".join(f"k{number}: 1" for number in range(100)) + "}\n") + "".join(
    f"m{number}: {{<<: *a}}\n" for number in range(100)
)
OTHER_TAGS = (
    *("!!python/object/apply:os.system [id]", "!!binary aGk=", "!!set {a, b}", "!Ref web"),
    *("!<tag:example.com,2024:x> 1", "!!map [a]"),
)
"""No tag builds an object, and none is silently ignored."""


def values(text: str | bytes, limits: Limits | None = None) -> list[Any]:
    """Read all documents of `text` as plain values."""
    content = text.encode() if isinstance(text, str) else text
    roots = documents("m.yaml", content, Budget(limits or Limits()))
    return [plain(root) for root in roots]


def refusal(text: str | bytes, limits: Limits | None = None) -> ManifestError:
    """Read text that is wrong, and return the error."""
    with pytest.raises(ManifestError) as refused:
        values(text, limits)
    return refused.value


MERGED = """
base: &base {image: web, tag: 1}
more: &more {tag: 2, port: 80}
one:
  <<: *base
  tag: 3
two:
  <<: [*base, *more]
three: {"<<": {a: 1}}
four: {! <<: {a: 1}}
"""


@pytest.mark.contract("B217")
def test_merge_keys_bring_in_what_does_not_stand_there() -> None:
    """What follows `<<` wins over it, and of several mappings an earlier one; each is a copy."""
    (value,) = values(MERGED)
    assert value["one"] == {"image": "web", "tag": 3}
    assert value["two"] == {"image": "web", "tag": 1, "port": 80}
    assert value["three"] == value["four"] == {"<<": {"a": 1}}
    (value,) = values("a: &x {k: [1]}\nb: *x\n")
    value["a"]["k"].append(2)
    assert value["b"] == {"k": [1]}


@pytest.mark.contract("B217")
@each(
    ("text", "value"),
    [
        ("!!str 12", "12"),
        ("! 12", "12"),
        ('!!int "3"', 3),
        ("!!float 15", 15),
        ("!!bool yes", True),
        ('!!null ""', None),
        ("!!map {a: 1}", {"a": 1}),
        ("!!seq [1]", [1]),
    ],
)
def test_tags_of_plain_data_are_honoured(text: str, value: object) -> None:
    """The core tags say what a scalar is taken for."""
    assert values(f"a: {text}\n") == [{"a": value}]


@pytest.mark.contract("B264")
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("!topsecret", "unknown tag"),
        ("!!topsecret", "unknown tag"),
        ("!topsecret [a]", "unknown tag"),
        ("!<topsecret> a", "unknown tag"),
        ("*topsecret", "alias without an anchor before it"),
        ("!top!secret", "not valid YAML: "),
        ("!topsecret{", "not valid YAML: "),
        ("*topsecret*", "not valid YAML: "),
        ("&topsecret&", "not valid YAML: "),
        ("%topsecret", "not valid YAML: "),
        ("@topsecret", "not valid YAML: "),
        ("`topsecret", "not valid YAML: "),
        ('"topsecret', "not valid YAML: "),
        ("|topsecret", "not valid YAML: "),
        ("topsecret: topsecret", "not valid YAML: "),
    ],
)
def test_a_value_that_yaml_takes_for_syntax_is_not_shown(value: str, problem: str) -> None:
    """A password without quotes that begins with an indicator is still a password."""
    text = f"kind: Secret\nstringData:\n  pw: {value}\n"
    error = refusal(text)
    assert error.source.line >= 3
    assert problem in error.message
    assert "secret" not in f"{error.message} {error.hint}".lower()


@pytest.mark.contract("B212", "B213", "B217")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", '2:1: duplicate key "a", first in line 1'),
        ("s:\n  t: {k: 1,\n   k: 2}\n", '3:4: duplicate key "k", first in line 2'),
        ('1: a\n"1": b\n', '2:1: duplicate key "1", first in line 1'),
        ("<<: {a: 1}\n<<: {b: 1}\n", '2:1: duplicate key "<<", first in line 1'),
        ('{"a": {"b": 1, "b": 2}}', '1:16: duplicate key "b", first in line 1'),
        (
            "x: &x {k: 1}\ny:\n  k: 2\n  <<: *x\n",
            '3:3: duplicate key "k": << in line 4 holds it too',
        ),
        ('"\\e[31m": 1\n"\\e[31m": 1\n', '2:1: duplicate key "\\u001b[31m", first in line 1'),
        ("<<: 3\n", "1:5: << takes a mapping or a list of mappings"),
        ("<<: [{a: 1}, 2]\n", "1:14: << takes a mapping or a list of mappings"),
        ("a: *b\n", "1:4: alias without an anchor before it"),
        ("a: &a [*a]\n", "1:8: alias without an anchor before it"),
        ("a: &x 1\nb: &x [*x]\n", "2:8: alias without an anchor before it"),
        ("? [a]\n: 1\n", "1:3: a list or a mapping cannot be a key"),
        ("~: 1\n", "1:1: null is no key"),
        ("a: .inf\n", "1:4: infinity and NaN are no JSON numbers"),
        ("a: !!int x\n", "1:4: the value is no int"),
        ("a: b: c\n", "1:5: not valid YAML: mapping values are not allowed in this context"),
        ('a:\n  "b\n', "3:1: not valid YAML: found unexpected end of stream"),
        ("%TAG !e! tag:x,2000:\n---\na: 1\n", "1:1: %TAG has no place in a manifest"),
        ("%YAML 1.1\r%TAG !e! x\r---\ra: 1\r", "1:11: %TAG has no place in a manifest"),
        ("a: b\n\x07", "2:1: \\u0007 has no place in a manifest"),
        ("a: 1\n\ufeffb: 2\n", "2:1: \\ufeff has no place in a manifest"),
        *((f"a: 1\nb: {tag}\n", "2:4: unknown tag") for tag in OTHER_TAGS),
        (b"\x7fELF\0\0", " is binary, neither YAML nor JSON"),
        (b"a: 1\nb: gr\xf6\xdfe\n", "2:6: is not UTF-8 text"),
        ("a: ü\nb: ".encode() + b"\xff", "2:4: is not UTF-8 text"),
        (b"\xef\xbb\xbfa: \xff", "1:4: is not UTF-8 text"),
        (b"\xff\xfea\0:\0 \0b", "1:4: is not UTF-16 text"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(text: str | bytes, message: str) -> None:
    """Line and column count from 1; text of the file is escaped where it does not print."""
    error = refusal(text)
    assert error.message == f"m.yaml:{message}"
    assert error.message.isprintable()


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a: {{ .Values.x }}\n", "this looks like a template"),
        ("{{- if .Values.x }}\na: 1\n{{- end }}\n", "this looks like a template"),
        ("a:\n\tb: 1\n", "indented with spaces"),
        ("a: [1\n", ""),
        ("a: !Ref web\n", "plain data only; a text that begins with ! needs quotes"),
        ('{"a": 1 "b": 2}', ""),
        ('{"a": 1}\n{"b": 2}\n', "several JSON objects need a line ---"),
    ],
)
def test_common_mistakes_have_a_hint(text: str, hint: str) -> None:
    """A chart that was not rendered, tabs, and JSON lines are what people really pipe in."""
    given = refusal(text).hint
    assert hint in given
    assert bool(hint) == bool(given)


@pytest.mark.contract("B215")
@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "[\n"])
def test_deep_nesting_is_refused_at_once(opening: str) -> None:
    """A hundred thousand brackets are refused at the 65th, in any style."""
    assert refusal(opening * 100_000).message.endswith(": nested deeper than 64 levels")


@pytest.mark.contract("B215")
@pytest.mark.parametrize(
    ("text", "limits", "message"),
    [
        ("- a\n" * 10, Limits(nodes=10), "10:3: more than 10 values, aliases expanded"),
        ("---\n" * 4, Limits(documents=3), "4:1: more than 3 documents"),
        ("a: &a 1\nb: [*a, *a, *a]", Limits(aliases=2), "2:13: more than 2 aliases"),
        ("[[[a]]]", Limits(depth=3), "1:4: nested deeper than 3 levels"),
        (BOMB, Limits(), "6:12: more than 200000 values, aliases expanded"),
        (STACKED, Limits(), "63:12: nested deeper than 64 levels"),
        (WIDE, Limits(nodes=20_000), "99:11: more than 20000 values, aliases expanded"),
    ],
)
def test_each_limit_is_named_where_it_is_passed(text: str, limits: Limits, message: str) -> None:
    """The error says which limit, and where the text went over it: values are counted, not made."""
    tracemalloc.start()
    try:
        assert refusal(text, limits).message == f"m.yaml:{message}"
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert text != BOMB or peak < 2**20


def values_or_error(content: bytes) -> list[Any] | ManifestError:
    """Read what may or may not be a document."""
    try:
        return values(content, Limits(nodes=500))
    except ManifestError as error:
        return error


YAMLISH = st.text(alphabet="ab1:-[]{}&*!|>'\"#%@`,?~<.\n \t\\\x00é\ud7ff\U0001f600", max_size=60)


@given(st.binary(max_size=200) | YAMLISH.map(str.encode))
@example(BOMB.encode())
@example(b"\xff\xfe")
@example(b"\xef\xbb\xbf")
@example(b'{"a": "\\ud83d"}')
@example(b"a: " + b"1" * 5000)
@example(b"a: 0x" + b"f" * 5000)
@example(b"? *a")
@example(b"%YAML 9.9\n---\n")
@example(b'{"a": "\\\\ud83d\\ude00"}')
def test_any_bytes_are_values_or_a_manifest_error(content: bytes) -> None:
    """Nothing that a file may hold raises anything else, and what is read is JSON."""
    read = values_or_error(content)
    if isinstance(read, ManifestError):
        assert read.message.isprintable()
        assert read.message.startswith("m.yaml")
    else:
        json.dumps(read, allow_nan=False)


KEYS = st.text(max_size=80)
"""Escaped, a key stays below the 1,024 characters that YAML allows it."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text() | st.floats(-1e6, 1e6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(KEYS, JSON, min_size=1, max_size=4), st.booleans())
def test_json_that_python_writes_is_read_as_it_was(value: dict[str, Any], indented: bool) -> None:
    """Escaped JSON round-trips with tabs, in any encoding, floats without a fraction as whole."""
    text = json.dumps(value, indent="\t" if indented else None)
    assert values(text) == [value]
    assert values(text.encode("utf-16" if indented else "utf-8-sig")) == [value]
