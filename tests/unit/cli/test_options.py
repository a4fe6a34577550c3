"""Each declared option has a flag, a variable, a key, a line of help and of the reference."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from gate.cli.catalog import COMMANDS
from gate.cli.command import row
from gate.cli.exit_codes import MEANINGS, table
from gate.cli.main import run
from gate.cli.reference import reference
from gate.config import Settings
from gate.config.fail_fast import DEFAULTS
from gate.config.json_schema import schema
from gate.config.option import Setting
from gate.config.settings import collect_settings, taken_by
from gate.core.model.outcome import Outcome
from tests.unit.cli.listener import App

SETTINGS = list(collect_settings().values())
FLAGS = [item for item in SETTINGS if item.option.on_command_line]
IN_FILES = [item for item in SETTINGS if item.option.in_file]
ARGUMENTS = {"status": ["web"], "history": ["web"], "undo": ["web"], "pause": ["web"]}
ARGUMENTS |= {"resume": ["web"], "restart": ["web"], "replay": ["trace.jsonl"]}
ARGUMENTS |= {"apply": ["-f", "x.yaml"], "preflight": ["-f", "x.yaml"], "verify": ["web"]}
ARGUMENTS |= {"rehearse": ["-f", "x.yaml"]}
SAMPLES = {
    "KIND:NAME": "user:jane",
    "DURATION": "7m",
    "N|N%": "42%",
    "N": "3",
    "KIND=VALUE": "crash=5",
    "CONTAINER=REF": "web=shop/web:2",
    "FORMAT=FILE": "json=out.json",
    "CODE": "one-replica",
    "CHECK": "errors: up <= 1",
    "URL": "https://web.example/healthz",
    "ADDR:PORT": "127.0.0.1:9464",
    "COMMAND": "smoke --fast",
    "": "true",
}


def sample(item: Setting) -> str:
    """Return a value that an option takes and that is not its default."""
    if item.default is True:
        return "false"
    closed = item.metavar.split("|")[-1] if item.metavar.islower() else "sample"
    return SAMPLES.get(item.metavar, closed)


def command_of(item: Setting) -> list[str]:
    """Return a command line that takes the option; verify takes no names beside a selector."""
    name = next(name for name in COMMANDS if name in item.option.commands)
    return [name] if item.name == "selector" else [name, *ARGUMENTS[name]]


def by_name(items: list[Setting]) -> pytest.MarkDecorator:
    """Run a test for each option."""
    return pytest.mark.parametrize("item", items, ids=lambda item: item.name)


@pytest.mark.contract("B183")
@by_name([item for item in FLAGS if item.option.in_file])
def test_flag_variable_and_key_of_an_option_say_the_same(
    item: Setting, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The three layers give one value, and it is not the default."""
    line = command_of(item) if item.name != "file" else ["apply"]
    switch = item.opposite if item.default is True else item.flag
    arguments = [item.flag, sample(item)] if item.metavar else [switch]
    assert run([*line, *arguments]) == 0

    with monkeypatch.context() as environment:
        environment.setenv(item.variable, sample(item))
        assert run(line) == 0

    text = sample(item) if item.metavar != "N" else int(sample(item))
    value = [text] if item.repeated else (text == "true" if item.opposite else text)
    Path("rollout-gate.yaml").write_text(json.dumps({item.key: value}), encoding="utf-8")
    assert run(line) == 0

    values = [getattr(settings, item.name) for _, settings, _ in app.calls]
    assert values[0] == values[1] == values[2] != item.default


@by_name([item for item in IN_FILES if item.opposite])
def test_a_switch_that_a_file_turns_on_is_turned_off_by_its_opposite(
    item: Setting, app: App
) -> None:
    """Else a flag could not win over the file."""
    Path("rollout-gate.yaml").write_text(f"{item.key}: true", encoding="utf-8")
    assert run([*command_of(item), item.opposite]) == 0
    assert getattr(app.settings, item.name) is False


@pytest.mark.contract("B36")
@pytest.mark.parametrize(("command", "default"), [("apply", True), ("verify", False)])
def test_a_lock_is_taken_by_who_writes(command: str, default: bool, app: App) -> None:
    """The default is the command's own, in what it does and in its help."""
    (lock,) = (item for item in SETTINGS if item.name == "lock")
    line = [command, *ARGUMENTS[command]]
    for given, expected in (([], default), (["--lock"], True), (["--no-lock"], False)):
        assert run([*line, *given]) == 0
        assert app.calls[-1][1].lock is expected
    assert row(lock, command)[1].endswith(f"[default: {'on' if default else 'off'}]")
    assert lock.shown_default == "on; off in verify"


@by_name([item for item in SETTINGS if item.repeated])
def test_a_repeatable_flag_takes_several_values(item: Setting, app: App, tmp_path: Path) -> None:
    """Both values arrive, in their order."""
    values = {"KIND=VALUE": ("crash=5", "image-pull=1m"), "CODE": ("one-replica", "mutable-tag")}
    values |= {"CONTAINER=REF": ("a=x", "b=y"), "FORMAT=FILE": ("json=a", "text=b")}
    values |= {"CHECK": ("a: up <= 1", "b: up >= 1"), "NAME=FILE": ("X-A=one", "X-B=two")}
    values |= {"URL": ("https://a.example", "https://b.example/x")}
    pair = values.get(item.metavar, ("one", "two"))
    for name in pair:
        (tmp_path / name.rpartition("/")[2]).touch()
    line = command_of(item) if item.name != "file" else ["apply"]
    assert run([*line, item.flag, pair[0], item.flag, pair[1]]) == 0
    together = getattr(Settings.of({item.name: pair}), item.name)
    assert getattr(app.settings, item.name) == together


@pytest.mark.parametrize("command", [name for name in COMMANDS if taken_by(name)])
def test_the_help_of_a_command_lists_what_it_takes(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of its options and no other, under headings; `-h` is `--help`."""
    assert run([command, "-h"]) == 0
    listed = {word for word in capsys.readouterr().out.split() if word.startswith("--")}
    flags = {item.flag for item in FLAGS}
    mine = {item.flag for item in taken_by(command) if item.option.on_command_line}
    assert listed & flags == mine | ({"--timeout"} if command in {"apply", "preflight"} else set())


def test_flags_and_short_flags_are_unique() -> None:
    """No two options of one command answer to one name."""
    for command in COMMANDS:
        mine = taken_by(command)
        names = [name for item in mine for name in (item.flag, item.opposite, item.option.short)]
        given = [name for name in names if name]
        assert len(given) == len(set(given))


def test_no_variable_is_one_that_the_kubelet_sets() -> None:
    """For a Service named rollout-gate every pod of the namespace has ROLLOUT_GATE_PORT."""
    settings = [item for item in SETTINGS if item.option.in_environment]
    names = {item.variable.removeprefix("ROLLOUT_GATE_") for item in settings}
    assert not {name for name in names if name.startswith(("PORT", "SERVICE"))}


def test_the_schema_has_a_key_for_each_option() -> None:
    """All but --config, which a file cannot hold, and what one run is about.

    The parts of `prometheus` stand under that key.
    """
    assert set(schema()["properties"]) == {item.key for item in IN_FILES}
    of_one_run = {"with_", "all_", "scenario", "port", "speed", "explain", "show", "metrics"}
    of_one_run |= {"power", "traffic", "rate", "exposure"}
    of_one_run |= {"rbac", "release", "yes", "format_", "all_namespaces"}
    parts = {item.name for item in SETTINGS if item.option.file_key}
    assert parts == {item.name for item in SETTINGS if item.name.startswith("prometheus_")}
    left_out = {item.name for item in SETTINGS} - {item.name for item in IN_FILES}
    assert left_out == {"config"} | of_one_run | parts


def test_the_flags_of_preflight_are_those_of_apply() -> None:
    """A pipeline changes one word."""
    applied = {item.name for item in taken_by("apply")}
    assert applied == {item.name for item in taken_by("preflight")} - {"rbac", "rbac_subject"}


def test_click_has_no_say_in_values() -> None:
    """There is one place where text becomes a value, or a message of one form."""
    from gate.cli.apply import apply

    types = {type(option.type) for option in apply.params}
    assert types <= {type(click.STRING), type(click.BOOL)}


# -- the reference ---------------------------------------------------------------------------------


PAGE = Path(__file__).resolve().parents[3] / "docs" / "cli.md"


def test_the_published_reference_is_this_one() -> None:
    """`python -m gate.cli.reference > docs/cli.md` changes nothing."""
    assert PAGE.read_text(encoding="utf-8") == reference()


@pytest.mark.contract("B37")
def test_the_readme_says_of_each_exit_code_what_runs_and_what_to_do() -> None:
    """One table, in README.md and docs/cli.md; no outcome that a pipeline can see is left out."""
    rows = "\n".join(table())
    for page in ("README.md", "docs/cli.md"):
        assert rows in Path(page).read_text(encoding="utf-8")
    elsewhere = {Outcome.APPLIED, Outcome.OBSERVED, Outcome.INTERRUPTED}
    assert MEANINGS.keys() | elsewhere == set(Outcome)


def test_the_defaults_of_fail_fast_are_those_of_the_policy() -> None:
    """They stand in docs/cli.md, made of the policy itself."""
    assert DEFAULTS.startswith("crash=3, readiness-lost=3, image-pull=0s to 5m by cause, ")
    assert DEFAULTS in reference()
