"""Keeps everything that happened in a trial in a folder, for whoever looks into a failure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from tests.interference.facts import Facts, Writer
from tests.interference.leaves import changes
from tests.interference.play import Played


def keep(folder: Path, played: Played, wrong: Sequence[str]) -> None:
    """Write a trial's files into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = played.facts
    (folder / "trial.txt").write_text("\n".join([str(facts.trial), *_performed(facts), ""]))
    (folder / "wrong.txt").write_text("\n".join([*wrong, ""]))
    for name, result in played.results.items():
        (folder / f"{name}.txt").write_text(str(result))
    if facts.ended.document:
        (folder / "document.json").write_text(json.dumps(facts.ended.document, indent=1))
    (folder / "writes.txt").write_text("\n".join([*_writes(facts), ""]))
    for name, number in (("before", facts.ended.started), ("after", facts.ended.ended)):
        (folder / f"{name}.yaml").write_text(_state(facts, number))
    with (folder / "audit.jsonl").open("w") as file:
        for request in played.requests:
            body = request.body if request.is_write else None
            line = {
                "at": request.at.isoformat(),
                "user": request.user,
                "agent": request.user_agent,
                "verb": request.verb,
                "uri": request.uri,
                "code": request.code,
                "body": body,
            }
            file.write(json.dumps(line) + "\n")


def _performed(facts: Facts) -> Iterator[str]:
    for each in facts.performed:
        early = " (before all was written)" if facts.is_early(each) else ""
        yield f"{each.seconds:6.2f} s {each.name}{early} {each.error}"


def _writes(facts: Facts) -> Iterator[str]:
    """Iterate what each write changed, in the order of the writes, controllers' status aside."""
    steps = [
        (version, before, key)
        for key in facts.versions
        if key.resource not in {"pods", "replicasets"}
        for before, version in facts.steps(key, 0)
    ]
    for version, before, key in sorted(steps, key=lambda step: step[0].number):
        change = {".".join(path): value for path, value in changes(before, version.leaves).items()}
        if version.body is None:
            yield f"{version.number} {version.at:%H:%M:%S.%f} {version.writer} {key.name} GONE"
        elif change or version.writer is not Writer.MACHINERY:
            said = json.dumps(change)[:600]
            what = f"{key.resource}/{key.name}"
            yield f"{version.number} {version.at:%H:%M:%S.%f} {version.writer} {what} {said}"


def _state(facts: Facts, number: int) -> str:
    bodies = [versions[-1].body for key in facts.versions if (versions := facts.until(key, number))]
    return yaml.safe_dump_all(filter(None, bodies), sort_keys=False)
