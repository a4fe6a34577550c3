"""The keys that the result document got after its first release, for documents without them.

A later release only adds keys to `rollout-gate/result/v1`; what a document lacks reads as absent.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gate.report.schema.earlier_keys import DEFAULT_KIND

LATER_KEYS: Final[Mapping[tuple[str, ...], Mapping[str, Any]]] = {
    (): {
        "hint": "",
        "command": "",
        "recoverable": False,
        "has_recovered": False,
        "takes_back": False,
        "would_have": "",
        "unready_need": "",
        "undecided_check": "",
        "on_failure": "",
        "traceparent": "",
        "kubeconfig": "",
        "check_flags": None,
        "check_variables": [],
        "history": {"pods": [], "checks": []},
    },
    ("workloads",): {
        "scaled_from": 0,
        "scaled_meanwhile": False,
        "paused": False,
        "complete_after_signal": False,
        "deletion": None,
        "undone": None,
        "undo_lacks": [],
        "undo_conflicts": [],
        "trees": [],
        "message": "",
        "pod_shares": [],
        "remarks": [],
        "lasting_effect": "",
        "remedy": "",
        "phase": None,
    },
    ("workloads", "baseline"): {"was_revision": None, "unverified": "", "served": True},
    ("workloads", "new"): {"was_revision": None, "restored": False},
    ("workloads", "causes"): {"subject": "", "remedy": "", "crash": None},
    ("workloads", "evidence"): {"previous": False},
    ("objects",): {
        "at_end": None,
        "file": "",
        "line": 0,
        "changes": [],
        "irreversible": "",
        "not_restored": "",
        "was_to_be": "",
        "kept_otherwise": [],
    },
    ("rollback",): {"written_after_seconds": 0.0},
    ("checks",): {"errors": 0, "comparison": None, "output": ""},
    ("checks", "comparison"): {
        "baseline": "all",
        "fresh_pods": [],
        "shared_seconds": None,
        "enough_seconds": None,
        "compared": None,
        "why_undecided": "",
    },
    ("history", "pods"): {"kind": DEFAULT_KIND},
    ("history", "checks"): {"comparison": None},
}
"""What each key reads as, by the path of the object that it belongs to."""


def add_later_keys(document: Any) -> None:
    """Give a document the keys that it lacks; what is not of its shape is left as it is."""
    for path, defaults in LATER_KEYS.items():
        for part in parts(document, path):
            for key, value in defaults.items():
                part.setdefault(key, copy.deepcopy(value))


def parts(value: Any, path: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Iterate the objects at a path, those of a list one by one."""
    if isinstance(value, list):
        for item in value:
            yield from parts(item, path)
    elif isinstance(value, dict) and not path:
        yield value
    elif isinstance(value, dict):
        yield from parts(value.get(path[0]), path[1:])
