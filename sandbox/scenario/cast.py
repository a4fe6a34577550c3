"""Whom a scenario is about: what there is for it to name.

A pattern that fits no image, or a name that nothing has, would let a scenario play in which nothing
goes wrong. Where it is known what there is, each is a mistake in the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sandbox.scenario import actions
from sandbox.scenario.document import Node
from sandbox.scenario.images import fits
from sandbox.storage.store import Key

_MOST_NAMED: Final = 8


@dataclass(frozen=True, slots=True)
class Cast:
    """What there is when a scenario plays.

    `namespace` is that of a workload whose event says none; `checks` are the names under which
    there can be measurements.
    """

    images: tuple[str, ...]
    workloads: tuple[Key, ...]
    namespace: str
    checks: tuple[str, ...] = ()


def report_strangers(sections: Mapping[str, Node], cast: Cast) -> None:
    """Report each name in a scenario's sections that nothing of the cast has."""
    events = [*_iter_events(sections.get("events"))]
    images = [*cast.images, *filter(None, (actions.image_of(text) for _, text in events))]
    for section in ("images", "logs"):
        for node, pattern in _iter_keys(sections.get(section)):
            if not any(fits(pattern, image) for image in images):
                what = f"no container of the manifest has such an image: {pattern}"
                node.wrong(f"{what}; {_list_known(images)}")
    for node, name in _iter_keys(sections.get("checks")):
        if name not in cast.checks:
            node.wrong(f"no such check is configured: {name}; {_list_known(cast.checks)}")
    for node, text in events:
        _report_unknown_workload(node, text, cast)


def _report_unknown_workload(node: Node, text: str, cast: Cast) -> None:
    """Report an event about a workload that is not there, or of a kind that it cannot be about."""
    subject = actions.subject_of(text)
    if subject is None:
        return
    target, kinds, called = subject
    namespace = target.namespace or cast.namespace
    able = [key for key in cast.workloads if key.resource in kinds]
    if any((key.namespace, key.name) == (namespace, target.name) for key in able):
        return
    known = [
        key.name if key.namespace == cast.namespace else f"{key.namespace}/{key.name}"
        for key in able
    ]
    asked = f"{target.namespace}/{target.name}".removeprefix("/")
    verb = text.split(maxsplit=1)[0]
    node.wrong(f"{verb}: the manifest has no such {called}: {asked}; {_list_known(known)}")


def _iter_keys(section: Node | None) -> Iterator[tuple[Node, str]]:
    for key, _ in section.entries("a mapping") if section and section.is_mapping else ():
        if (text := key.text("a name")) is not None:
            yield key, text


def _iter_events(section: Node | None) -> Iterator[tuple[Node, str]]:
    """Yield the events that are well said, each with its place."""
    for _, value in section.entries("a mapping") if section and section.is_mapping else ():
        for item in value.items():
            text = item.parse_text("an event, as in `scale web 5`", _check_event)
            if text is not None:
                yield item, text


def _check_event(text: str) -> str:
    actions.parse(text)
    return text


def _list_known(names: Iterable[str]) -> str:
    known: Collection[str] = dict.fromkeys(names)
    if not known:
        return "there is none"
    more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    verb = "is" if len(known) == 1 else "are"
    return f"there {verb} {', '.join([*known][:_MOST_NAMED])}{more}"
