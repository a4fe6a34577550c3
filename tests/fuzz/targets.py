"""What is fuzzed: a reader each, with what it may answer and what it may refuse with.

A target takes any bytes. It raises only where a promise is broken: an error of another kind than
the reader's own, or an answer that is not what its docstring says.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gate.core.checks.query_template import Query, QueryError
from gate.core.checks.questions import Samples
from gate.core.kinds.check_variables import BUILT_IN
from gate.errors import UsageError
from gate.manifests.bounds import Limits
from gate.manifests.load import load
from gate.sources.prometheus_answer import decode as decode_answer
from gate.sources.source import Unanswered
from gate.wire import decode
from gate.wire.kinds.registry import WATCHED
from gate.wire.untrusted import LINE_LIMIT, TEXT_LIMIT, clean, clean_line

_LIMITS: Final = Limits(
    file_bytes=1 << 20, total_bytes=1 << 20, documents=50, nodes=20_000, aliases=500, depth=64
)
_ALLOWED_CONTROLS: Final = "\n\t"
_UNWANTED_CATEGORIES: Final = ("Cc", "Cs")


@dataclass(frozen=True, slots=True)
class Target:
    """One reader under test: its name, what it does with any bytes, and bytes to begin with."""

    name: str
    run: Callable[[bytes], None]
    seeds: tuple[bytes, ...]


def manifest(data: bytes) -> None:
    """Load a manifest from stdin: objects that say what they are, or a usage error."""
    try:
        loaded = load(["-"], stdin=io.BytesIO(data), limits=_LIMITS)
    except UsageError as error:
        assert "\n" not in error.message, "an error is one line"
        return
    for item in loaded.objects:
        assert item.kind
        assert item.name
        assert isinstance(item.body_copy(), dict)


def watch_line(data: bytes) -> None:
    """Decode a line of a watch, and lists of each kind: a value, or DecodeError."""
    _decoded(decode.watch_line, data)
    for kind in WATCHED:
        _decoded(lambda body, kind=kind: decode.listing(kind, body), data)  # type: ignore[misc]
    _decoded(decode.live_object, data)


def _decoded(reader: Callable[[bytes], object], data: bytes) -> None:
    try:
        found = reader(data)
    except decode.DecodeError as error:
        assert "\n" not in str(error), "an error is one line"
        return
    assert hash(repr(found)) is not None


def prometheus_answer(data: bytes) -> None:
    """Read the answer to a query: samples, or why there are none."""
    try:
        found = decode_answer(data, "application/json")
    except Unanswered as failed:
        assert failed.error.permanent
        assert "\n" not in failed.error.why
        return
    assert isinstance(found, Samples)
    for series in found.series:
        assert isinstance(series.value, float)
        assert "\n" not in series.labels


def text(data: bytes) -> None:
    """Clean any text: nothing invisible or active is left, and cleaning again changes nothing."""
    cleaned = clean(data)
    assert len(cleaned) <= TEXT_LIMIT
    assert clean(cleaned) == cleaned, "cleaning what is clean changes nothing"
    line = clean_line(data)
    assert len(line) <= LINE_LIMIT
    assert "\n" not in line
    for character in cleaned:
        controls = unicodedata.category(character) in _UNWANTED_CATEGORIES
        assert not controls or character in _ALLOWED_CONTROLS
    for each in cleaned.split("\n"):
        assert not each.lstrip().startswith("::"), "a command of GitHub"
        assert "##[" not in each
        assert "##vso[" not in each.lower()


def query(data: bytes) -> None:
    """Parse the template of a query: a query that resolves to one text, or where it is wrong."""
    source = data.decode("utf-8", "replace")
    try:
        parsed = Query.parse(source, BUILT_IN)
    except QueryError as error:
        assert 1 <= error.position <= len(source) + 1
        return
    assert parsed.names <= BUILT_IN
    values = dict.fromkeys(parsed.names, "web")
    assert isinstance(parsed.resolve(values), str)


TARGETS: Final = {
    target.name: target
    for target in (
        Target(
            "manifest",
            manifest,
            (
                b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: &x b, c: *x}\n",
                b'{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}',
                b"a: &a [1]\nb: &b [*a, *a]\n---\n- !!python/object:os.system {}\n",
            ),
        ),
        Target(
            "watch-line",
            watch_line,
            (
                (
                    b'{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","uid":"u"},'
                    b'"status":{"containerStatuses":[{"name":"c","restartCount":1,"state":{"waiting":'
                    b'{"reason":"CrashLoopBackOff"}}}]}}}'
                ),
                b'{"type":"ERROR","object":{"kind":"Status","code":410,"message":"gone"}}',
                b'{"kind":"ReplicaSetList","metadata":{"resourceVersion":"1"},"items":[]}',
            ),
        ),
        Target(
            "prometheus-answer",
            prometheus_answer,
            (
                (
                    b'{"status":"success","data":{"resultType":"vector","result":'
                    b'[{"metric":{"pod":"a"},"value":[1.5,"0.1"]}]},"warnings":["partial"]}'
                ),
                b'{"status":"success","data":{"resultType":"scalar","result":[1,"+Inf"]}}',
                b'{"status":"error","errorType":"bad_data","error":"1:2: parse error"}',
            ),
        ),
        Target(
            "text",
            text,
            (
                b"::set-output name=a::b\n##[command]rm\n\x1b[31mred\x1b[0m\r\n",
                "\u202eabc\u2066\x9b31m ##vso[task] \ud7ff".encode(),
            ),
        ),
        Target(
            "query",
            query,
            (
                b'sum(rate(x{a="${replicaset}",b=~"${deployment}-.*"}[${window}])) # ${x}',
                b"'${namespace}' + `a` offset ${elapsed}",
            ),
        ),
    )
}
