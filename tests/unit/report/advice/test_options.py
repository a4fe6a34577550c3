"""Advice names options that exist on the command that it is about."""

from __future__ import annotations

import ast
import importlib
import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import gate
from gate.cli.catalog import COMMANDS
from gate.core.model.outcome import EXIT_CODES, Outcome, Reason
from gate.report.advice.next_steps import next_steps
from gate.report.advice.options import COMMANDS_WITH
from gate.report.schema.result import CrashResult, Result
from tests.unit.report.results import (
    NAMES,
    cause_of,
    example,
    log_result,
    result_of,
    workload_result,
)

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
APP = Path(gate.__file__).parent / "app" / "commands"


def options_of(command: str) -> set[str]:
    """Return the flags that a command takes, its `--no-` forms among them."""
    found: click.Command = getattr(importlib.import_module(f"gate.cli.{command}"), command)
    flags = {flag for one in found.params for flag in (*one.opts, *one.secondary_opts)}
    return flags | {"--help"}


def results() -> Iterator[Result]:
    """Iterate every ending, and a Deployment for every outcome and reason."""
    yield from map(example, sorted(NAMES))
    for outcome, reason in itertools.product(Outcome, Reason):
        one = workload_result(outcome, reason)
        for lacks in ([], ["secret/keys"]):
            one["undo_lacks"] = lacks
            result = result_of(one)
            yield {**result, "exit_code": EXIT_CODES.get(outcome, 130)}
            yield {**result, "exit_code": EXIT_CODES.get(outcome, 130), "workloads": []}


@pytest.mark.contract("B845")
@pytest.mark.parametrize("command", [*COMMANDS, ""])
def test_no_option_is_advised_of_a_command_that_has_it_not(command: str) -> None:
    """What a text names, the run's own command has, or the `apply` that the text speaks of."""
    mine, found = (options_of(command) if command in COMMANDS else set()), 0
    for result in results():
        for step in next_steps({**result, "command": command}):
            named = set(OPTION.findall(step.text))
            there = mine | (options_of("apply") if "apply" in step.text else set())
            assert named <= there, (command, step)
            found += len(named)
            words = shlex.split(step.command)
            if words[:1] == ["rollout-gate"]:
                given = {word for word in words if word.startswith("--")}
                assert given <= options_of(words[1]), step
            elif words and words[0].startswith("--"):
                assert "apply" in step.text
                assert set(OPTION.findall(step.command)) <= options_of("apply")
    assert found, "some advice names options"


@pytest.mark.contract("B845")
def test_what_is_known_of_options_is_so() -> None:
    """A command that gets one, or loses it, is told here."""
    for flag, commands in COMMANDS_WITH.items():
        assert commands == {name for name in COMMANDS if flag in options_of(name)}


def hints() -> Iterator[tuple[Path, str]]:
    """Iterate the constant parts of each `hint=` of the program, with its file."""
    for path in Path(gate.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                parts = (one for one in ast.walk(node.value) if isinstance(one, ast.Constant))
                yield path, " ".join(str(one.value) for one in parts)


@pytest.mark.contract("B845")
def test_every_option_that_a_hint_names_exists() -> None:
    """In the room of one command it is that command's own, unless the hint names another one."""
    everywhere = set().union(*map(options_of, COMMANDS))
    found = 0
    for path, text in hints():
        named = set(OPTION.findall(text)) - {"--for"}
        found += len(named)
        assert named <= everywhere, (path, text)
        command = path.stem.partition("_")[0]
        if path.parent == APP and command in COMMANDS:
            spoken_of = {command, *(word for word in COMMANDS if re.search(rf"\b{word}\b", text))}
            assert named <= set().union(*map(options_of, spoken_of)), (path, text)
    assert found, "some hints name options"


@pytest.mark.contract("B846", "B1359")
def test_what_broke_off_and_went_back_can_be_applied_again() -> None:
    """Unless somebody undid it, or anything speaks against it."""
    one = workload_result(Outcome.ROLLED_BACK, Reason.INTERRUPTED, "baseline")
    one["causes"], one["evidence"] = [], []
    back = {**result_of(one)}
    back["message"] = "the gate ended before the new version was complete"
    (step,) = next_steps(back)  # type: ignore[arg-type]
    assert step.text == (
        "the attempt was cut off before a verdict, and nothing was found against it: repeat the"
        " command that began it if you still want it"
    )
    (step,) = next_steps({**back, "workloads": []})  # type: ignore[typeddict-item]
    assert "repeat the command that began it" in step.text
    back["takes_back"] = True
    assert not next_steps(back)  # type: ignore[arg-type]


@pytest.mark.contract("B905")
@pytest.mark.parametrize("takes_back", [False, True])
def test_what_broke_off_with_evidence_is_not_called_innocent(takes_back: bool) -> None:
    """A cause leads to what mends it; evidence without one is to be looked at."""
    one = workload_result(Outcome.ROLLED_BACK, Reason.INTERRUPTED, "baseline")
    one["evidence"] = [log_result("Unhealthy: Readiness probe failed: HTTP 503", kind="event")]
    one["causes"] = []
    back: Result = {**result_of(one), "takes_back": takes_back}
    texts = [step.text for step in next_steps(back)]
    looked_at = (
        "the attempt was cut off before a verdict: check the evidence in this report"
        " before you repeat the command that began it"
    )
    assert texts == ([] if takes_back else [looked_at])
    said = "web: Error, exit code 1, 1 restart: web cannot start: the schema is missing"
    crash: CrashResult = {"container": "web", "init": False, "has_last_words": True}
    one["causes"] = [cause_of(Reason.CRASH_LOOP, said, 1, crash=crash)]
    texts = [step.text for step in next_steps(back)]
    mended = (
        "read what container web said as it ended (quoted in the cause), fix that, then apply again"
    )
    assert texts == ([] if takes_back else [mended])
