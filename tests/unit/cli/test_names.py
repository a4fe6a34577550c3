"""`NAME` on the command line."""

from __future__ import annotations

import re

import click
import pytest

from gate.cli.main import run
from gate.cli.names import EXPLANATION, workload_name
from gate.kube.kinds import registry
from tests.unit.cli.listener import App


@pytest.mark.contract("B180")
@pytest.mark.parametrize("text", ["web", "deployment/web", "deploy/web"])
def test_three_forms_name_a_deployment(text: str) -> None:
    """What kubectl users type means the same here."""
    assert workload_name(text) == "web"


@pytest.mark.contract("B1034")
@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("statefulset/db", "statefulset/db"),
        ("sts/db", "statefulset/db"),
        ("ds/agent", "daemonset/agent"),
    ],
)
def test_a_kind_before_the_name_means_that_kind(text: str, canonical: str) -> None:
    """In kubectl's words; the name alone means a Deployment as before."""
    assert workload_name(text) == canonical


@pytest.mark.contract("B180", "B205")
@pytest.mark.parametrize(
    "text",
    [
        *("pod/web", "Deployment/web", "/web", "deploy/", "", "deploy/web/x", "../secrets"),
        *("Web", "-web", "web.", "a..b", "web\n", "w" * 254, "web?x=1"),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    """Another kind, and what no Deployment can be called: it would become part of a URL."""
    with pytest.raises(click.BadParameter):
        workload_name(text)


@pytest.mark.contract("B180")
def test_a_wrong_name_is_one_line(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, and nothing runs."""
    assert run(["status", "pod/web"]) == 2
    assert not app.calls
    first, hint = capsys.readouterr().err.splitlines()
    assert first.startswith("error: rollout-gate status: ")
    assert f"pod/web names no workload that is judged. {EXPLANATION[:-1]}" in first
    assert hint == "hint: rollout-gate status --help"


def test_verify_takes_several_names_each_once(app: App) -> None:
    """A name in two forms is one Deployment."""
    assert run(["verify", "web", "deploy/api", "deploy/web"]) == 0
    ((_, _, arguments),) = app.calls
    assert arguments == (("web", "api"),)


@pytest.mark.contract("B1132")
def test_the_explanation_has_every_word_for_a_kind() -> None:
    """It is written by hand, since the registry loads slowly."""
    *_, kinds = EXPLANATION.partition("The kinds are ")
    assert re.findall(r"[a-z]{2,}", kinds.replace(" and ", " ")) == [
        word for kind in registry.WORKLOADS for word in kind.words
    ]


@pytest.mark.contract("B1132")
@pytest.mark.parametrize(
    ("command", "takes_name"), [("status", True), ("verify", True), ("apply", False)]
)
def test_help_explains_names_where_they_are_taken(
    command: str, takes_name: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the same words as the error."""
    assert run([command, "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (EXPLANATION in shown) is takes_name
