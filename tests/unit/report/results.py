"""Result documents for the renderers: all endings, with other people's words in every text."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterator
from typing import Any, Final

from gate.core.kinds.registry import reason_of
from gate.core.model.outcome import EXIT_CODES, AnyReason, Outcome, Reason
from gate.core.model.remedy import Remedy
from gate.report.document.document import document, minimal
from gate.report.document.run import Run, RunIdentity, RunTimes
from gate.report.schema.check_verdict import CheckResult
from gate.report.schema.course import CheckHistory
from gate.report.schema.result import (
    CauseResult,
    CrashResult,
    EvidenceResult,
    ObjectResult,
    Result,
    Running,
    WorkloadResult,
)
from gate.report.style.style import Style
from gate.report.words.headline import headline
from tests.unit.report.endings import ENDINGS, ReportPlayer, run_of

RUN: Final = Run(RunIdentity("1.0.0", "id", "apply"), RunTimes("2026-11-21T12:00:00Z", 0.0, 12.0))
HOSTILE: Final = (
    "::set-output name=outcome::verified",
    "::add-mask::e",
    "##[command]echo",
    "##vso[task.setvariable variable=x]1",
    "\x1b[31mred\x1b]0;title\x07",
    "\u202egnp.exe\u2066\u200b",
    "]]><!--",
    "``````\n# heading\n~~~\n",
    "` | `` | \\| \\\\|",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</pre></td></table></svg></style></title>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt; &#60;script&#62;",
    "[click](javascript:alert(1)) ![x](http://evil.example/x.png)",
    "https://evil.example www.evil.example a@evil.example @team #1",
    "\n---\n| a | b |\n|---|---|\n* * *\n1. x\n> y",
    "a\r\nEOF\rb\u2028c\u2029d\x00e",
    "\n::endgroup::\nsection_end:1:x\r\x1b[0K",
    "rollout-gate-00000000000000000000000000000000",
    "x" * 50,
)
NAMES: Final = frozenset(ENDINGS)
FREE: Final = frozenset(
    {
        "message", "output", "text", "path", "before", "after", "name", "replicaset", "namespace",
        "file", "server", "context", "run_url", "attempt", "cluster_uid", "version", "pod",
        "container", "images", "image_ids", "pods", "warnings", "started_at", "at", "source",
        "event", "uid",
    }
)  # fmt: skip
"""Fields that hold what somebody else may have said; outcomes, reasons and actions do not."""
CHECKS: Final[list[CheckResult]] = [
    {"name": "errors", "source": "prometheus", "verdict": "fail", "required": True,
     "measurements": 3, "failures": 2, "errors": 0, "last_value": 0.2, "message": "0.2 > 0.05",
     "output": "", "comparison": None},
    {"name": "smoke", "source": "command", "verdict": "inconclusive", "required": False,
     "measurements": 0, "failures": 0, "errors": 1, "last_value": None, "message": "exit 75",
     "output": "GET /pay\nno answer yet", "comparison": None},
]  # fmt: skip
COMPARED: Final[CheckResult] = {
    "name": "against before", "source": "prometheus", "verdict": "fail", "required": True,
    "measurements": 3, "failures": 1, "errors": 0, "last_value": 0.04,
    "message": "36 of 900 bad, of the old version 9 of 900",
    "output": "",
    "comparison": {
        "new": {"bad": 36.0, "total": 900.0}, "old": {"bad": 9.0, "total": 900.0},
        "baseline": "all", "fresh_pods": [],
        "ratio": 4.0, "low": 1.52, "high": 16.2, "detectable": 2.39,
        "compared": None, "shared_seconds": 90.0, "enough_seconds": 130.0, "why_undecided": "",
    },
}  # fmt: skip
COMPARISON: Final[CheckHistory] = {
    "name": "against before", "least": None, "most": None, "samples": [],
    "comparison": {
        "tolerated": 1.25, "harm": 2.0, "negligible": 0.001, "decided_at_seconds": 9.0,
        "samples": [
            {"at_seconds": 3.0, "new": {"bad": 9.0, "total": 300.0},
             "old": {"bad": 0.0, "total": 300.0}, "ratio": None, "low": 0.0, "high": None},
            {"at_seconds": 6.0, "new": {"bad": 24.0, "total": 600.0},
             "old": {"bad": 6.0, "total": 600.0}, "ratio": 4.0, "low": 1.1, "high": 40.0},
            {"at_seconds": 9.0, "new": {"bad": 36.0, "total": 900.0},
             "old": {"bad": 9.0, "total": 900.0}, "ratio": 4.0, "low": 1.52, "high": 16.2},
        ],
    },
}  # fmt: skip
"""How the comparison of `COMPARED` went."""
MEASURED: Final[CheckHistory] = {
    "name": "errors", "least": None, "most": 0.05, "comparison": None,
    "samples": [
        {"at_seconds": 2.0, "verdict": "pass", "value": 0.01},
        {"at_seconds": 4.0, "verdict": "fail", "value": 0.2},
        {"at_seconds": 6.0, "verdict": "no-data", "value": None},
        {"at_seconds": 8.0, "verdict": "error", "value": None},
    ],
}  # fmt: skip


def result_of_player(player: ReportPlayer) -> Result:
    """Return the document of an attempt as a pipeline reads it: through JSON."""
    found: Result = json.loads(json.dumps(document(player.attempt, run_of(player))))
    return found


@functools.cache
def _of_ending(name: str) -> Result:
    return result_of_player(ENDINGS[name]())


def example(name: str) -> Result:
    """Return the document of an ending."""
    return copy.deepcopy(_of_ending(name))


def with_checks(name: str) -> Result:
    """Return the document of an ending with checks and their measurements."""
    return {
        **example(name),
        "checks": copy.deepcopy([*CHECKS, COMPARED]),
        "history": {
            "pods": example(name)["history"]["pods"],
            "checks": copy.deepcopy([MEASURED, COMPARISON]),
        },
    }


def log_result(text: str = "panic", **over: Any) -> EvidenceResult:
    """Return the log of a pod."""
    log: Any = {"kind": "log", "pod": "web-p0", "container": "web", "text": text, "at": ""}
    found: EvidenceResult = log | {"previous": False} | over
    return found


def object_result(**over: Any) -> ObjectResult:
    """Return a ConfigMap that a run changed."""
    found: Any = example("kept")["objects"][0] | {"at_end": None, "changes": []}
    result: ObjectResult = found | over
    return result


def cause_of(
    reason: str,
    message: str = "said",
    pods: int = 0,
    subject: str = "",
    remedy: Remedy = Remedy.NONE,
    crash: CrashResult | None = None,
) -> CauseResult:
    """Return a cause as a document has it."""
    return {
        "reason": str(reason),
        "message": message,
        "pods": pods,
        "subject": subject,
        "remedy": remedy,
        "crash": crash,
    }


def workload_result(
    outcome: Outcome, reason: AnyReason, running: Running = "new", name: str = "web"
) -> WorkloadResult:
    """Return a Deployment that ended so: revision 4 after revision 3."""
    found: Any = example("kept")["workloads"][0]
    found["baseline"] |= {"revision": 3, "name": "web-3", "images": ["shop/web:3"]}
    found["new"] |= {"revision": 4, "name": "web-4", "images": ["shop/web:4"]}
    found |= {"name": name, "uid": "u", "outcome": outcome, "reason": reason.value}
    found |= {"message": "said", "running": running, "causes": [cause_of(reason, "said", 2)]}
    found |= {"evidence": [], "pod_shares": [], "trees": []}
    found["paused"] = False
    found["scaled_from"] = 2 if reason is Reason.SCALED_TO_ZERO else 0
    result: WorkloadResult = found
    return result


def result_of(*deployments: WorkloadResult) -> Result:
    """Return the document of an attempt with these, the first being the worst."""
    first = deployments[0]
    code = EXIT_CODES.get(first["outcome"], 143)
    result = minimal(first["outcome"], code, reason_of(first["reason"]), "said", RUN)
    result["workloads"] = list(deployments)
    result["recoverable"] = first["outcome"] == Outcome.INTERRUPTED
    return result


def first_line(*workloads: WorkloadResult, **over: Any) -> str:
    """Return the first line of the verdict about these, whole; `over` stands in the document."""
    result: Any = result_of(*workloads) | over
    return first_line_of(result)


def first_line_of(result: Result) -> str:
    """Return the first line of a document's verdict, whole."""
    (line,) = headline(result, Style(width=1_000_000))
    return line


def spoilt(result: Result, words: str) -> Result:
    """Return the document with `words` in every text that somebody else may have chosen."""
    found: Result = _spoilt(result, words, free=False)
    return found


def _spoilt(value: Any, words: str, *, free: bool) -> Any:
    if isinstance(value, dict):
        return {key: _spoilt(inner, words, free=key in FREE) for key, inner in value.items()}
    if isinstance(value, list):
        return [_spoilt(item, words, free=free) for item in value]
    return words if free and isinstance(value, str) and value else value


def every() -> Iterator[Result]:
    """Yield the documents of all endings, and one with checks."""
    yield from map(example, sorted(NAMES))
    yield with_checks("rolled-back")
