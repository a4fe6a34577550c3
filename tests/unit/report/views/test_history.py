"""The table of revisions."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText
from gate.core.model.origin import Origin
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause
from gate.core.rollout.workload_kind import PodCounts
from gate.core.versions.judged_version import JudgedVersion
from gate.report.kinds.deployment import DEPLOYMENT
from gate.report.kinds.kind import WorkloadWords
from gate.report.kinds.stateful_set import STATEFUL_SET
from gate.report.style.style import Style, columns
from gate.report.views.history import Returns, Revision, Verdict, history_table

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

TWO = PodCounts(2, 2, 2, 2)


def revision(number: int | None, *, returned_to: bool = False, **more: object) -> Revision:
    """Return a revision of an ordinary Deployment."""
    values: dict[str, object] = {
        "number": number,
        "name": f"web-{number}",
        "images": (f"shop/web:{number}",),
        "change_cause": "",
        "created_at": "2026-11-21T11:55:00Z",
        "pods": PodCounts(),
        "running": False,
        "returns": Returns(f"web-{number}") if returned_to else Returns(),
        **more,
    }
    return Revision(**values)  # type: ignore[arg-type]


@pytest.mark.contract("B865", "B866")
@pytest.mark.parametrize(
    ("returns", "mark", "short"),
    [
        (Returns("web-1"), "<- a failure would return here", "<- returned to"),
        (Returns("web-1", ("configmap/a",)), "would return here, without configmap/a", "to"),
        (Returns("web-1", undo="web-1"), "<- a failure or undo would return here", "to"),
        (Returns(undo="web-1"), "<- undo would return here", "<- undo"),
        (
            Returns(undo="web-1", undo_conflicts=("kubectl-set",)),
            "<- undo --take-over kubectl-set would return here",
            "<- undo --take-over kubectl-set",
        ),
        (
            Returns("web-1", undo="web-1", undo_lacks=("secret/a", "secret/b")),
            (
                "<- a failure would return here <- undo --deployment-only would return here,"
                " without secret/a, secret/b"
            ),
            "<- returned to <- undo --deployment-only",
        ),
        (Returns("web-2", undo="web-2"), "shop/web:1", "shop/web:1"),
    ],
)
def test_the_marks(returns: Returns, mark: str, short: str) -> None:
    """Where a failure and an undo return to, and what they would leave out or be refused for."""
    row = revision(1, returns=returns)
    wide, narrow = (history_table([row], NOW, Style(width=w)).rstrip() for w in (240, 99))
    assert wide.endswith(mark)
    assert narrow.endswith(short)


def judged(reason: Reason | None = None, actor: str = "", commit: str = "") -> JudgedVersion:
    """Return what is remembered of a version since two days ago."""
    text = CleanText("deployment/api failed: CrashLoop: why")
    why = Cause(reason, text) if reason is not None else None
    origin = Origin("https://ci/7", actor, commit)
    at = "2026-11-19T12:00:00+00:00"
    return JudgedVersion("1", (), FrozenMap(), why=why, judged_at=at, origin=origin)


@pytest.mark.contract("B190")
def test_what_is_remembered_of_a_version_stands_beside_it() -> None:
    """Latest first; verdict, who and commit, nothing where nothing is remembered."""
    rows = [
        revision(1, change_cause="a\n::error::b\x1b[2J", created_at="yesterday"),
        revision(
            3,
            pods=PodCounts(2, 2, 2, 2),
            judged=judged(Reason.CRASH_LOOP, "bob", "2" * 40),
            running=True,
        ),
        revision(2, judged=judged(None, "alice", "1" * 40), created_at="2026-11-18T12:00:00Z"),
    ]
    heading, running, verified, unknown = history_table(rows, NOW, Style(width=150)).splitlines()
    assert heading.split()[3:6] == ["VERDICT", "BY", "COMMIT"]
    row = "       3   5m     2  failed 2d ago: CrashLoop  bob    22222222  shop/web:3  -"
    assert running.startswith(row)
    assert running.endswith(" running")
    assert verified.startswith("       2   3d     0  verified 2d ago           alice  11111111")
    assert unknown.split()[:6] == ["1", "?", "0", "-", "-", "-"]
    assert "\x1b" not in unknown
    assert history_table([], NOW, Style()) == "no revisions\n"


@pytest.mark.contract("B190", "B867")
def test_a_revision_as_json() -> None:
    """What a pause holds back is no revision yet, so that nothing returns to it."""
    found = revision(3, running=True).document(DEPLOYMENT)
    assert {key: found[key] for key in ("revision", "name", "images", "running")} == {
        "revision": 3, "name": "web-3", "images": ["shop/web:3"], "running": True,
    }  # fmt: skip
    marks = ("waiting", "returned_to", "undo_returns")
    assert [found[key] for key in marks] == [False, False, False]
    held = revision(None, name="").document(DEPLOYMENT)
    assert [held[key] for key in marks] == [True, False, False]


@pytest.mark.contract("B1133")
@pytest.mark.parametrize(("kind", "replica_set"), [(DEPLOYMENT, "web-3"), (STATEFUL_SET, "")])
def test_only_a_replica_set_is_called_one(kind: WorkloadWords, replica_set: str) -> None:
    """The key of before has nothing to say of what another kind keeps its versions in."""
    found = revision(3).document(kind)
    assert (found["name"], found["replicaset"]) == ("web-3", replica_set)


@pytest.mark.contract("B190")
@pytest.mark.parametrize(
    ("reason", "verdict", "said"),
    [
        (None, Verdict.VERIFIED, "verified 2d ago"),
        (Reason.TIMEOUT, Verdict.FAILED, "failed 2d ago: Timeout"),
        (Reason.INTERRUPTED, Verdict.INTERRUPTED, "interrupted 2d ago"),
        (Reason.UNREACHABLE, Verdict.NOT_VERIFIED, "not verified 2d ago: Unreachable"),
        (Reason.SIBLING_FAILED, Verdict.NOT_VERIFIED, "not verified 2d ago: deployment/api failed"),
        (
            Reason.CHECK_INCONCLUSIVE,
            Verdict.NOT_VERIFIED,
            "not verified 2d ago: CheckInconclusive",
        ),
    ],
)
def test_each_verdict_is_told_from_the_others(
    reason: Reason | None, verdict: Verdict, said: str
) -> None:
    """What ended an attempt without a word on its version is no failure of it."""
    one = revision(1, judged=judged(reason))
    assert f"  {said}  " in history_table([one], NOW, Style(width=140))
    shown = one.document(DEPLOYMENT)
    assert (shown["verdict"], shown["reason"]) == (verdict, reason or "")


@pytest.mark.contract("B877")
def test_all_that_an_undo_lacks_is_named_off_a_terminal() -> None:
    """On one, as many names as leave room for the table."""
    lacks = tuple(f"configmap/settings-{n}" for n in range(4))
    one = revision(1, returns=Returns(undo="web-1", undo_lacks=lacks))
    assert f"without {', '.join(lacks)}" in history_table([one], NOW, Style(width=1_000_000))
    narrower = history_table([one], NOW, Style(width=120))
    assert "without configmap/settings-0 and 3 more" in narrower


@pytest.mark.contract("B1405")
def test_what_serves_is_told_from_what_is_being_rolled_out() -> None:
    """`running` is the only revision with pods; beside another one that of the template is not."""
    served, held, none = PodCounts(3, 3, 3, 3), PodCounts(1, 1, 0, 0), PodCounts()
    for new, old, shown in (
        (served, none, ["running", ""]),
        (none, served, ["current", "serving"]),
        (held, served, ["current", "serving"]),
        (served, served, ["current, serving", "serving"]),
        (served, held, ["current, serving", ""]),
    ):
        rows = [revision(2, pods=new, running=True), revision(1, pods=old)]
        lines = history_table(rows, NOW, Style(width=150)).splitlines()[1:]
        marks = [re.sub(r".*shop/web:\d", "", line).strip() for line in lines]
        assert marks == shown


@pytest.mark.contract("B190")
def test_a_narrow_terminal_has_the_verdict_and_the_marks() -> None:
    """Who, commit and cause go first, then it is blocks; nothing is wider, and no mark is cut."""
    shown: dict[int, str] = {}
    one = revision(
        1,
        images=("registry.example.com/" + "shop/" * 20 + "web:1",),
        judged=judged(Reason.PROGRESS_DEADLINE_EXCEEDED, "a-long-name-of-somebody", "1" * 40),
        change_cause="火" * 100,
        running=True,
        returned_to=True,
    )
    for width in (30, 60, 70, 80, 100, 120, 160):
        lines = history_table([one, revision(2)], NOW, Style(width=width)).splitlines()
        assert all(columns(line) <= width for line in lines)
        said = " ".join(" ".join(lines).split())
        assert "current <- " in said or "running <- " in said
        assert width >= 70 or "ProgressDeadlineExceeded" in said.replace(" ", "")
        shown[width] = " ".join(lines[0].split())
    assert shown == {
        30: "REVISION 2",
        60: "REVISION 2",
        70: "REVISION 2",
        80: "REVISION AGE PODS VERDICT IMAGES",
        100: "REVISION AGE PODS VERDICT IMAGES",
        120: "REVISION AGE PODS VERDICT COMMIT IMAGES CHANGE CAUSE",
        160: "REVISION AGE PODS VERDICT BY COMMIT IMAGES CHANGE CAUSE",
    }
