"""Secrets by value in what commands say: of servers that show what they were sent, of programs."""

from __future__ import annotations

import base64
import io
from typing import Any

import pytest

from gate.app.runtime.masking import MaskedStream, learn
from gate.manifests.load import load
from gate.wire.secret_values import SecretValues
from tests.unit.app.conftest import Ended, Gate
from tests.unit.app.metrics import BASE, Metrics

TOKEN = "prom-t0ken-4711"
GIVEN = "given-to-a-c0mmand"
FORMS = ({"output": "json"}, {"output": "text"}, {"output": "text", "explain": True})


def said(ended: Ended) -> str:
    """Return all that a command wrote."""
    return ended.out + ended.err


def echoing(metrics: Metrics, value: str) -> None:
    """Let the server put a value into the labels of its answer, and into a warning."""
    series = {"metric": {"pod": "p-0", "echo": value}, "value": [1.0, "0.7"]}
    document = {"resultType": "vector", "result": [series]}
    metrics.says(200, {"status": "success", "data": document, "warnings": [f"saw {value}"]})


@pytest.mark.contract("B258", "B429")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoded", [False, True])
def test_a_token_that_a_server_shows_as_a_label_is_in_no_answer(
    here: Gate,
    metrics: Metrics,
    monkeypatch: pytest.MonkeyPatch,
    form: dict[str, Any],
    *,
    encoded: bool,
) -> None:
    """Neither in the table, nor where each number is explained, nor in the document."""
    monkeypatch.setenv("ROLLOUT_GATE_PROMETHEUS_TOKEN", TOKEN)
    shown = base64.b64encode(TOKEN.encode()).decode() if encoded else TOKEN
    echoing(metrics, shown)
    ended = here("checks", (), prometheus_url=BASE, check=["up: sum(up) <= 0.5"], **form)
    assert ended.code == 6, said(ended)
    assert shown not in said(ended)
    if form != {"output": "text"}:
        assert 'echo="***"' in said(ended).replace('\\"', '"')


@pytest.mark.contract("B258")
@pytest.mark.parametrize("form", FORMS)
def test_what_a_command_is_given_is_in_no_answer(
    here: Gate, monkeypatch: pytest.MonkeyPatch, form: dict[str, Any]
) -> None:
    """Neither in what it prints, nor where it stands among its arguments."""
    monkeypatch.setenv("SHOP_TOKEN", GIVEN)
    smoke = f"sh -c 'echo it is $SHOP_TOKEN; exit 3' {GIVEN}"
    ended = here("checks", (), smoke_test=[smoke], smoke_test_env=["SHOP_TOKEN"], **form)
    assert ended.code == 6, said(ended)
    assert GIVEN not in said(ended)
    assert "***" in said(ended)


def test_a_stream_stays_what_it_is() -> None:
    """It takes text for another one, which tells its form."""
    target = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    secrets = SecretValues()
    secrets.add(TOKEN)
    stream = MaskedStream(target, secrets.mask)
    assert (stream.encoding, stream.isatty(), stream.writable()) == ("ascii", False, True)
    assert stream.write(f"{TOKEN}\n") == len(TOKEN) + 1
    stream.flush()
    target.seek(0)
    assert target.read() == "***\n"


@pytest.mark.contract("B258")
def test_a_manifest_shows_what_it_calls_something_by(tmp_path: Any) -> None:
    """The name of a Deployment may be the user of its database, and its image's name too."""
    path = tmp_path / "m.yaml"
    path.write_text(
        "{apiVersion: v1, kind: Secret, metadata: {name: db},"
        " stringData: {user: checkout, kind: postgres, password: very-s3cret-indeed}}\n"
        "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: checkout}, spec: {template:"
        " {spec: {containers: [{name: web, image: 'docker.io/postgres:16'}]}}}}\n"
    )
    secrets = SecretValues()
    learn(secrets, load([str(path)], stdin=io.BytesIO()))
    text = "checkout of postgres with very-s3cret-indeed"
    assert secrets.mask(text) == "checkout of postgres with ***"
