"""Checks that cannot work: found before anything is applied, each with one clear line."""

from __future__ import annotations

import itertools

import pytest

from tests.bed.expectations import assert_refused, assert_usage
from tests.bed.scene import Scene, web
from tests.cluster.audit import Trail
from tests.e2e.checks.conftest import FrontBefore, TrialOf
from tests.e2e.checks.trial import Trial
from tests.engines.engine import Engine
from tests.engines.front import Reply
from tests.engines.programs import Kind

UP = {"name": "up", "query": "sum(up)", "min": 1}


def assert_untouched(scene: Scene, audit: Trail) -> None:
    """Assert that no object was written, and none of the manifest's is there."""
    assert [each for each in audit.requests().writes() if not each.is_own] == []
    assert scene.objects.find("deployments", "web") is None


@pytest.mark.contract("B487", "B409", "B432")
def test_a_query_that_cannot_be_read(trial: Trial, engine: Engine, audit: Trail) -> None:
    """The server's complaint about the query is told, and the place in it where it tells one."""
    flags = ["--prometheus-url", trial.url, "--check", "broken: sum(up{job=}) <= 1"]
    result = trial.scene.apply(web(), flags=flags)
    assert_usage(result, "broken", "parse")
    assert "sum(up{job=})" in result.stderr
    if engine.kind is Kind.PROMETHEUS:
        assert "^" in result.stderr
    assert_untouched(trial.scene, audit)


def endless() -> Reply:
    """Return an answer whose body never ends."""
    begin = b'{"status":"success","data":{"resultType":"vector","result":['
    return Reply(200, itertools.chain([begin], itertools.repeat(b" " * 65536)))


@pytest.mark.contract("B488", "B409", "B428")
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(401, [b"who are you?"]), ["401"]),
        (Reply(403, [b"not you"]), ["403"]),
        (
            Reply(302, [], {"Location": "http://127.0.0.1:9/login"}),
            ["redirects to http://127.0.0.1:9/login"],
        ),
        (Reply(200, [b"<html><title>Sign in</title>"], {"Content-Type": "text/html"}), ["Sign in"]),
        (endless(), ["1024 KiB"]),
    ],
    ids=["401", "403", "redirect", "html", "endless"],
)
def test_a_server_that_is_no_prometheus(
    trial_of: TrialOf, front: FrontBefore, reply: Reply, words: list[str], audit: Trail
) -> None:
    """Whatever answers instead is refused, and is told from its own words."""
    answering = front(answer=lambda _: reply)
    trial = trial_of(answering.url)
    trial.configure(UP)
    result = trial.scene.apply(web())
    assert_refused(result, "CheckError", "up", *words)
    assert len(answering.asked) == 1
    assert_untouched(trial.scene, audit)
