"""What is known of the real cluster: `real/SCENARIO.json`, a summary of its recordings.

Each file has how many recordings there are, each story that they tell and how often, what they
settled to, and how the gate judged them, with the seconds between which it did.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from tests.cluster.kubelet.api import JSON
from tests.conformance.field_sets import FieldSets
from tests.conformance.judging import Decision, Judged
from tests.conformance.summary import Story

FOLDER = Path(__file__).parent / "real"
TRACES = Path(__file__).parents[1] / "traces"


@dataclass(frozen=True, slots=True)
class Summary:
    """One recording in short; what it settled to is not known of each."""

    story: Story
    decision: Decision
    settled: JSON | None


@dataclass(slots=True)
class Known:
    """What the recordings of one scenario had in common, and in what they differed."""

    kubernetes: str = ""
    recordings: int = 0
    stories: dict[Story, int] = field(default_factory=dict)
    verdicts: dict[Judged, int] = field(default_factory=dict)
    decided_at: tuple[float, float] | None = None
    settled: list[JSON] = field(default_factory=list)

    def add(self, summary: Summary) -> None:
        """Count one more recording."""
        self.recordings += 1
        self.stories[summary.story] = self.stories.get(summary.story, 0) + 1
        judged, at = summary.decision.judged, summary.decision.at
        self.verdicts[judged] = self.verdicts.get(judged, 0) + 1
        if at is not None:
            low, high = self.decided_at or (at, at)
            self.decided_at = (min(low, at), max(high, at))
        if summary.settled is not None and summary.settled not in self.settled:
            self.settled.append(summary.settled)


@cache
def read(name: str) -> Known:
    """Return what is known of a scenario."""
    document = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return Known(
        kubernetes=document["kubernetes"],
        recordings=document["recordings"],
        stories={Story.of_document(each): each["seen"] for each in document["stories"]},
        verdicts={
            Judged(each["verdict"], each["reason"], each["cause"]): each["seen"]
            for each in document["verdicts"]
        },
        decided_at=tuple(document["decided_at"]) if document["decided_at"] else None,
        settled=FieldSets().unpacked(document["settled"]),
    )


def write(name: str, known: Known) -> None:
    """Keep what is known of a scenario: one story, verdict or object a line."""
    sets = FieldSets()
    packed = replace(known, settled=sets.packed(known.settled))
    (FOLDER / f"{name}.json").write_text(_text(packed), encoding="utf-8")
    sets.write(FOLDER.glob("*.json"))


def _text(known: Known) -> str:
    stories = [
        {"seen": seen, **story.document()}
        for story, seen in sorted(known.stories.items(), key=lambda item: -item[1])
    ]
    verdicts = [{"seen": seen, **asdict(judged)} for judged, seen in known.verdicts.items()]
    return (
        "{\n"
        f' "kubernetes": {_line(known.kubernetes)},\n'
        f' "recordings": {known.recordings},\n'
        f' "stories": [\n{_lines(stories)}\n ],\n'
        f' "verdicts": [\n{_lines(verdicts)}\n ],\n'
        f' "decided_at": {_line(known.decided_at)},\n'
        f' "settled": [\n{_states(known.settled)}\n ]\n'
        "}\n"
    )


def _lines(values: Sequence[Any]) -> str:
    return ",\n".join(f"  {_line(value)}" for value in values)


def _states(states: Sequence[JSON]) -> str:
    return ",\n".join("  {\n" + ",\n".join(_parts(state)) + "\n  }" for state in states)


def _parts(state: JSON) -> Iterator[str]:
    for name, part in state.items():
        inner = ",\n".join(f"    {_line(key)}: {_line(value)}" for key, value in part.items())
        yield f"   {_line(name)}: {{\n{inner}\n   }}"


def _line(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
