"""Draws the table of an attempt as a Mermaid state diagram, for docs/states.md."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.attempt.transitions import TRANSITIONS, Place, State
from gate.core.plan.leg import Leg


def mermaid() -> str:
    """Return the diagram: one box a leg, one arrow a pair of places with all its triggers."""
    lines = ["stateDiagram-v2", "    direction LR", f"    [*] --> {_id((Leg.FORWARD, _FIRST))}"]
    for leg in Leg:
        lines.append(f"    state {leg.value} {{")
        lines.extend(
            f'        state "{state}" as {_id((leg, state))}' for state in TRANSITIONS[leg]
        )
        lines.extend(f"        {arrow}" for arrow in _arrows(leg, across=False))
        lines.append("    }")
    lines.extend(f"    {arrow}" for leg in Leg for arrow in _arrows(leg, across=True))
    lines.extend(f"    {_id((leg, State.ENDED))} --> [*]" for leg in Leg)
    return "\n".join(lines)


_FIRST = State.RECORDING


def _arrows(leg: Leg, *, across: bool) -> Iterator[str]:
    """Iterate the arrows that stay on a leg, or those that leave it."""
    for state, triggers in TRANSITIONS[leg].items():
        places = dict.fromkeys(place for place in triggers.values())
        for place in places:
            if (place[0] is not leg) is across:
                named = [trigger.value for trigger, to in triggers.items() if to == place]
                yield f"{_id((leg, state))} --> {_id(place)}: {', '.join(named)}"


def _id(place: Place) -> str:
    leg, state = place
    return f"{leg.value}_{state.value}"


if __name__ == "__main__":
    print(mermaid())  # noqa: T201 - a program for people
