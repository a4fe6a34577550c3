"""`${NAME}` in a configuration file: refused where it would be taken literally."""

from __future__ import annotations

import pytest

from gate.config import SettingsError
from tests.unit.config.folder import BY_POD, Folder, listed

SAYS = "is not filled in: values of this file stand as they are"
ENVSUBST = "fill the file in before the run"


@pytest.mark.contract("B1990")
@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        pytest.param(
            "context: ${NAME}",
            "rollout-gate.yaml:1: context: ${NAME}",
            "ROLLOUT_GATE_CONTEXT or --context",
            id="a whole value",
        ),
        pytest.param(
            "output: text\nrecord: /tmp/${NAME:-a}/r.gz",
            "rollout-gate.yaml:2: record: ${NAME}",
            "ROLLOUT_GATE_RECORD or --record",
            id="a part of one, with a default",
        ),
        pytest.param(
            "image:\n  - web=registry/web:1\n  - web=registry/web:${{ github.sha }}",
            "rollout-gate.yaml:3:5: image: ${{ github.sha }}",
            "ROLLOUT_GATE_IMAGE or --image",
            id="an element of a list",
        ),
        pytest.param(
            "namespace: ${NAME}",
            "rollout-gate.yaml:1: namespace: ${NAME}",
            "ROLLOUT_GATE_NAMESPACE or --namespace",
            id="what would be no value anyway",
        ),
        pytest.param(
            "prometheus: {url: 'https://${NAME}'}",
            "rollout-gate.yaml:1:14: prometheus: url: ${NAME}",
            "ROLLOUT_GATE_PROMETHEUS_URL or --prometheus-url",
            id="a key that is an option elsewhere",
        ),
        pytest.param(
            "prometheus: {url: 'https://x', user-file: '${NAME}', password-file: p}",
            "rollout-gate.yaml:1:32: prometheus: user-file: ${NAME}",
            ENVSUBST,
            id="a key of files alone",
        ),
        pytest.param(
            "context: \"${{ format('{0}-a', github.ref) || 'x{}' }}\"",
            "rollout-gate.yaml:1: context: ${{ … }}",
            "ROLLOUT_GATE_CONTEXT or --context",
            id="an expression",
        ),
        pytest.param(
            listed("name: a\nhttp: {url: 'https://web/${NAME}'}"),
            "rollout-gate.yaml:3:12: checks: http.url: ${NAME}",
            ENVSUBST,
            id="the URL of a check",
        ),
        pytest.param(
            listed(f"name: a\nquery: {BY_POD}\nmax: 1\nvariables: {{query: '${{NAME}}'}}"),
            "rollout-gate.yaml:5:17: checks: variables.query: ${NAME}",
            ENVSUBST,
            id="a variable of a check",
        ),
    ],
)
def test_a_variable_that_nobody_fills_in_is_refused(
    folder: Folder, text: str, place: str, hint: str
) -> None:
    """With the key's line, and how to give the value instead."""
    assert folder.problems(text) == [f"{place} {SAYS}"]
    with pytest.raises(SettingsError) as caught:
        folder.load(text)
    assert hint in caught.value.hint


@pytest.mark.contract("B1990")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"check: |\n  a: {BY_POD} <= 1", id="a query in one line"),
        pytest.param(listed(f"name: a\nquery: {BY_POD}\nmax: 1"), id="a query"),
        pytest.param(
            listed(f"name: a\nquery: {BY_POD}\nmax: 1\nmin-samples: {{query: '{BY_POD}', min: 1}}"),
            id="a query inside",
        ),
        pytest.param(
            listed(f"name: a\nquery: label_replace({BY_POD}, 'a', '${{1}}', 'b', '')\nmax: 1"),
            id="a group of a regular expression",
        ),
        pytest.param(
            listed("use: error-rate\nmetrics: opentelemetry\npods: 'pod=~\"${replicaset}-.*\"'"),
            id="the pods of a ready-made check",
        ),
        pytest.param(listed("name: a\ncommand: [sh, -c, 'echo ${NAME}']"), id="words for a shell"),
        pytest.param("smoke-test: [\"sh -c 'echo ${NAME}'\"]", id="a shell's line"),
        pytest.param("record: a$b{c}", id="other signs"),
    ],
)
def test_a_variable_that_somebody_fills_in_is_taken(folder: Folder, text: str) -> None:
    """The gate itself, in a query; a shell, in a command."""
    folder.load(text)


def test_a_variable_of_the_environment_is_taken_as_it_stands(folder: Folder) -> None:
    """A shell, or a CI host, has filled it in."""
    assert folder.load(environ={"ROLLOUT_GATE_CONTEXT": "${a}"}).context == "${a}"
