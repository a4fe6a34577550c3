"""Each command parses, calls one function of the app, and exits with its answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest

from gate import __version__
from gate.cli.catalog import COMMANDS
from gate.cli.main import run
from gate.cli.names import EXPLANATION, workload_name
from gate.config.option import Group
from gate.config.settings import taken_by
from gate.kube.kinds import registry
from tests.unit.cli.listener import App

LINES = {
    "apply": (["-f", "web.yaml"], ()),
    "preflight": (["-f", "web.yaml"], ()),
    "verify": (["web", "api"], (("web", "api"),)),
    "checks": (["web", "deploy/api"], (("web", "api"),)),
    "status": (["web"], ("web",)),
    "history": (["deploy/web"], ("web",)),
    "undo": (["web"], ("web",)),
    "pause": (["web"], ("web",)),
    "resume": (["web"], ("web",)),
    "restart": (["web"], ("web",)),
    "recover": (["web", "deploy/api"], (("web", "api"),)),
    "locks": ([], ()),
    "replay": (["trace.jsonl"], ("trace.jsonl",)),
    "report": (["result.json"], ("result.json",)),
    "backtest": (["may.jsonl", "june"], (("may.jsonl", "june"),)),
    "rehearse": (["-f", "web.yaml"], ()),
    "demo": (["crash-loop"], ("crash-loop",)),
    "sandbox": (["--kubeconfig", "sandbox.kubeconfig"], ()),
}


@pytest.mark.parametrize("command", LINES)
def test_a_command_calls_the_app_and_returns_its_code(command: str, app: App) -> None:
    """The settings and the arguments go in, the exit code comes out."""
    line, arguments = LINES[command]
    app.code = 8
    assert run([command, *line, "--log-level", "error"]) == 8
    ((name, settings, given),) = app.calls
    assert (name, given) == (command, arguments)
    assert settings.log_level == "error"


def test_every_command_of_the_catalogue_is_tested_here() -> None:
    """A command that is added gets its line above."""
    assert set(COMMANDS) == {*LINES, "schema", "version"}


@pytest.mark.parametrize("command", ["apply", "preflight", "rehearse"])
def test_without_a_manifest_there_is_an_example(
    command: str, app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where neither a flag, a variable nor the configuration names any."""
    assert run([command]) == 2
    assert not app.calls
    first, hint = capsys.readouterr().err.splitlines()
    assert first == f"error: rollout-gate {command}: no manifest"
    assert f"rollout-gate {command} -f deploy.yaml" in hint


@pytest.mark.parametrize("line", [[], ["web", "-l", "app=web"]])
def test_verify_takes_names_or_a_selector(
    line: list[str], app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing to verify, or two answers to what, is a usage error."""
    assert run(["verify", *line]) == 2
    assert not app.calls
    assert "either names or a selector" in capsys.readouterr().err


@pytest.mark.contract("B458", "B459")
def test_checks_explains_and_shows(app: App) -> None:
    """Both are flags of one run alone: no file and no variable turns them on."""
    assert run(["checks", "--explain"]) == 0
    assert run(["checks", "--show", "error-rate", "--metrics", "istio"]) == 0
    (_, first, names), (_, second, _) = app.calls
    assert (first.explain, first.show, names) == (True, None, ((),))
    assert (second.explain, second.show, second.metrics) == (False, "error-rate", "istio")


@pytest.mark.contract("B187")
def test_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    """As a command and as a flag."""
    for line in (["version"], ["--version"]):
        assert run(line) == 0
        assert capsys.readouterr().out == f"{__version__}\n"


@pytest.mark.contract("B187")
@pytest.mark.parametrize(
    ("which", "title"), [("config", "timeout"), ("result", "exit_code"), ("checks", "verdict")]
)
def test_schema_prints_a_json_schema(
    which: str, title: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One JSON document on stdout, which names what it describes."""
    assert run(["schema", which]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "json-schema.org" in document["$schema"]
    assert f'"{title}"' in json.dumps(document)


def test_schema_and_version_read_no_configuration(app: App) -> None:
    """Both work beside a configuration that is broken."""
    Path("rollout-gate.yaml").write_text("[", encoding="utf-8")
    assert [run(["version"]), run(["schema", "config"])] == [0, 0]
    assert not app.calls


@pytest.mark.contract("B618")
def test_a_preflight_says_what_it_does_with_the_options_of_metrics(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It takes them all, as `apply` does, and its help says that they come to nothing."""
    assert run(["preflight", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Of metrics it checks the options, and pushes, writes and serves nothing" in said
    metrics = {item.name for item in taken_by("apply") if item.option.group is Group.METRICS}
    assert metrics <= {item.name for item in taken_by("preflight")}


# -- `NAME` ----------------------------------------------------------------------------------------


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
        *(
            "pod/web",
            "deployment./web",
            "deployment.apps.v1/web",
            "/web",
            "deploy/",
            "",
            "deploy/web/x",
            "../secrets",
        ),
        *("Web", "-web", "web.", "a..b", "web\n", "w" * 254, "web?x=1"),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    """Another kind, and what no Deployment can be called: it would become part of a URL."""
    with pytest.raises(click.BadParameter):
        workload_name(text)


@pytest.mark.contract("B1887")
@pytest.mark.parametrize(
    ("texts", "canonical"),
    [
        ("deployment.apps/web deployments/web Deployment/web DEPLOY/web deploy.apps/web", "web"),
        ("deployments.apps/web deployment.v1.apps/web Deployments.V1.Apps/web", "web"),
        ("statefulset.apps/db StatefulSet/db statefulsets/db STS/db sts.apps/db", "statefulset/db"),
        ("daemonset.apps/agent DaemonSets/agent Ds/agent ds.v1.apps/agent", "daemonset/agent"),
        ("job.batch/migrate jobs/migrate Job/migrate jobs.v1.batch/migrate", "job/migrate"),
    ],
)
def test_a_kind_is_taken_in_every_form_that_kubectl_has(texts: str, canonical: str) -> None:
    """What `kubectl get -o name` prints can be pasted."""
    assert {workload_name(text) for text in texts.split()} == {canonical}


@pytest.mark.contract("B1887")
@pytest.mark.parametrize(
    ("text", "guess"),
    [
        *(("deploymnt/web", "deployment/web"), ("deployment.extensions/web", "deployment/web")),
        *(("job.apps/migrate", "job/migrate"), ("Statefullset/db", "statefulset/db")),
        *(("cronjob/web", ""), ("deploymentconfig/web", ""), ("rs/web", ""), ("pod/web", "")),
        *(("deployment/web/x", ""), ("deploymnt/-", ""), ("replicaset.apps/web", "")),
    ],
)
def test_a_refusal_names_the_form_that_is_near(text: str, guess: str) -> None:
    """Another kind is no misspelt one."""
    with pytest.raises(click.BadParameter) as refused:
        workload_name(text)
    assert re.findall(r"\(did you mean (\S+)\?\)", refused.value.message) == [guess] * bool(guess)


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


@pytest.mark.contract("B1909", "B1950")
def test_the_help_of_recover_says_when_it_goes_back(capsys: pytest.CaptureFixture[str]) -> None:
    """What is complete goes back, too, as the attempt that was cut off was told."""
    assert run(["recover", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Forward if the new version is complete, back otherwise. Back, too, if health" in shown
    assert "ran with on-inconclusive: rollback" in shown
    assert "there is nothing to go back to: a first version that was written is followed" in shown
    assert "A short --timeout makes it fail sooner, and on-first-failure may then delete" in shown


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
