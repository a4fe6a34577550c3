"""No sentence decides: a report goes by values, which documents of before have in sentences."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gate.report.advice.next_steps import next_steps
from gate.report.formats.text import verdict_text
from gate.report.schema.added_keys import LATER_KEYS, parts
from gate.report.schema.reading import result_of
from gate.report.schema.recorded_result import recorded_end, with_recorded_end
from gate.report.style.style import Style
from gate.report.words.headline import headline
from tests.unit.report.results import NAMES, example

Made = Callable[[], dict[str, Any]]
STYLE = Style(width=100)
FILE = Path("result.json")
OF_SENTENCES = ("takes_back", "has_recovered", "would_have", "message", "not_restored", "crash")
UNDONE = "an undo takes back what the gate had left"
"""What versions wrote in whose documents this sentence alone said so."""
NO_RIGHT = 'configmaps "flags" is forbidden: User "ci" cannot patch resource "configmaps"'


def rewritten(document: Any) -> Any:
    """Return a document with other words in the place of the gate's sentences."""
    other = {"message": "other words"}
    workloads = [
        {**one, **other, "causes": [{**cause, **other} for cause in one["causes"]]}
        for one in document["workloads"]
    ]
    return {
        **document,
        **other,
        "workloads": workloads,
        "timeline": [{**one, **other} for one in document["timeline"]],
        "warnings": ["other words"] * len(document["warnings"]),
    }


def without_later_values(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document as a version wrote it that had sentences alone."""
    old: dict[str, Any] = json.loads(json.dumps(document))
    for path, defaults in LATER_KEYS.items():
        for part in parts(old, path):
            for key in defaults.keys() & set(OF_SENTENCES):
                del part[key]
    return old


def undone() -> dict[str, Any]:
    """Return the result of an `undo` over what a dead gate had left."""
    found: dict[str, Any] = {**example("rolled-back"), "reason": "Interrupted", "takes_back": True}
    return {**found, "message": UNDONE, "workloads": [_plain(found["workloads"][0])]}


def _plain(deployment: dict[str, Any]) -> dict[str, Any]:
    return {**deployment, "reason": "Interrupted", "message": UNDONE, "causes": [], "evidence": []}


def refused() -> dict[str, Any]:
    """Return a result that was refused after it had finished what another attempt left."""
    entry = {"at_seconds": 0.1, "event": "recovered", "message": "deployment/web: verified"}
    found: dict[str, Any] = {**example("conflict"), "workloads": [], "outcome": "refused"}
    found["reason"] = "Paused"
    return {**found, "exit_code": 3, "has_recovered": True, "timeline": [entry]}


def without_a_right() -> dict[str, Any]:
    """Return a result of which one object did not go back, for want of a right."""
    item: dict[str, Any] = {**example("rolled-back")["objects"][0], "kind": "ConfigMap"}
    item |= {"name": "flags", "judged": False, "action": "kept", "not_restored": "Forbidden"}
    found: dict[str, Any] = {**example("rolled-back"), "outcome": "rollback-failed", "exit_code": 5}
    warnings = [f"configmap/flags could not be restored: {NO_RIGHT}"]
    return {**found, "objects": [*found["objects"], item], "warnings": warnings}


def crashed() -> dict[str, Any]:
    """Return the result of a first version whose init container left a message."""
    found: dict[str, Any] = {**example("first-failed")}
    (one,) = found["workloads"]
    (cause,) = one["causes"]
    cause |= {"message": "init container migrate: Error, exit code 3, 2 restarts: no database"}
    cause |= {"crash": {"container": "migrate", "init": True, "has_last_words": True}}
    return {**found, "workloads": [{**one, "evidence": [], "message": cause["message"]}]}


@pytest.mark.contract("B876")
@pytest.mark.parametrize(
    ("made", "words"),
    [
        (crashed, "read what init container migrate said as it ended (quoted in the cause)"),
        (undone, "the restart of deployment/web is undone"),
        (refused, "nothing was written, except to finish an earlier attempt"),
        (without_a_right, "because a right was missing"),
    ],
)
def test_other_words_change_nothing(made: Made, words: str) -> None:
    """The first line and what to do next go by values: whatever a sentence reads, they stand."""
    document = made()
    plain, other = result_of(document, FILE), result_of(rewritten(document), FILE)
    assert headline(plain, STYLE) == headline(other, STYLE)
    steps = next_steps(plain)
    assert steps == next_steps(other)
    said = " ".join([*headline(plain, STYLE), *(step.text for step in steps)])
    assert words in said


@pytest.mark.contract("B876")
def test_what_observe_kept_from_is_a_value() -> None:
    """A check whose own text has the words that stand before a reason cuts nothing off."""
    document = {**example("observed"), "message": "a because b"}
    (first, *_) = headline(document, STYLE)  # type: ignore[arg-type]
    assert example("observed")["would_have"] in first
    assert example("observed")["message"].startswith(
        example("observed")["would_have"] + " because "
    )


MADE = {
    "crashed": crashed,
    "undone": undone,
    "refused": refused,
    "without-a-right": without_a_right,
}


@pytest.mark.contract("B876", "B775")
@pytest.mark.parametrize("name", [*sorted(NAMES), *MADE])
def test_a_document_with_sentences_alone_is_read_as_it_was(name: str) -> None:
    """Whoever reads the report of a version before sees the same as it did."""
    document = MADE[name]() if name in MADE else example(name)
    old = without_later_values(document)  # type: ignore[arg-type]
    assert old != document
    shown = verdict_text(result_of(old, FILE), STYLE)
    assert shown == verdict_text(result_of(document, FILE), STYLE)


@pytest.mark.contract("B876")
@pytest.mark.parametrize(
    ("said", "crash"),
    [
        ("web: Error, exit code 1, 3 restarts (2 of 2 created pods)", ("web", False, False)),
        ("web: Error, exit code 1, not restarted yet: no schema", ("web", False, True)),
        (
            (
                "init container migrate: OOMKilled, exit code unknown, 9 restarts,"
                " 3 of them while this run watched: no"
            ),
            ("migrate", True, True),
        ),
        ("shop/web:2: not found", None),
    ],
)
def test_a_cause_of_before_names_its_container_in_a_sentence(
    said: str, crash: tuple[str, bool, bool] | None
) -> None:
    """As versions wrote it that had no value for it."""
    old: Any = example("first-failed")
    old["workloads"][0]["causes"] = [{"reason": "CrashLoop", "message": said, "pods": 2}]
    (cause,) = result_of(old, FILE)["workloads"][0]["causes"]
    found = cause["crash"]
    values = (found["container"], found["init"], found["has_last_words"]) if found else None
    assert values == crash


@pytest.mark.contract("B876", "B750")
def test_a_recording_of_before_says_what_was_taken_back() -> None:
    """The end in it has the sentence: judging it again knows nothing of the command."""
    end = without_later_values(recorded_end(undone()))  # type: ignore[arg-type]
    found = result_of(with_recorded_end(example("rolled-back"), end), FILE)
    assert found["takes_back"]
