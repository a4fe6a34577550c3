"""The table of revisions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText
from gate.core.model.origin import Origin
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause
from gate.core.versions.judged_version import JudgedVersion
from gate.report.style.style import Style, columns
from gate.report.views.history import Returns, Revision, Verdict, history_table

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def revision(number: int | None, *, returned_to: bool = False, **more: object) -> Revision:
    """Return a revision of an ordinary Deployment."""
    values: dict[str, object] = {
        "number": number,
        "replica_set": f"web-{number}",
        "images": (f"shop/web:{number}",),
        "change_cause": "",
        "created_at": "2026-11-21T11:55:00Z",
        "pods": 0,
        "running": False,
        "returns": Returns(f"web-{number}") if returned_to else Returns(),
        **more,
    }
    return Revision(**values)  # type: ignore[arg-type]


@pytest.mark.contract("B190")
def test_the_table() -> None:
    """Latest first, aligned, with what runs and where a failure would return to."""
    rows = [
        revision(9, change_cause="kubectl apply", created_at="2026-11-18T12:00:00Z"),
        revision(11, pods=2, running=True),
        revision(10, pods=4, returned_to=True, created_at="2026-11-21T09:00:00Z"),
    ]
    assert history_table(rows, NOW, Style()) == (
        "REVISION  AGE  PODS  IMAGES       CHANGE CAUSE\n"
        "      11   5m     2  shop/web:11  -              running\n"
        "      10   3h     4  shop/web:10  -              <- a failure would return here\n"
        "       9   3d     0  shop/web:9   kubectl apply\n"
    )


@pytest.mark.contract("B865", "B866")
@pytest.mark.parametrize(
    ("returns", "mark", "short"),
    [
        (Returns("web-1"), "<- a failure would return here", "<- returned to"),
        (Returns("web-1", ("configmap/a",)), "would return here, without configmap/a", "to"),
        (
            Returns("web-1", undo="web-1"),
            "<- a failure or undo would return here",
            "<- returned to",
        ),
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
        (Returns("web-2", undo="web-2"), "shop/web:1  -", "shop/web:1  -"),
    ],
)
def test_the_marks(returns: Returns, mark: str, short: str) -> None:
    """Where a failure and an undo return to, and what they would leave out or be refused for."""
    row = revision(1, returns=returns)
    wide, narrow = (history_table([row], NOW, Style(width=w)).rstrip() for w in (240, 99))
    assert wide.endswith(mark)
    assert narrow.endswith(short)


@pytest.mark.contract("B867")
def test_what_a_pause_holds_back_is_waiting() -> None:
    """It is no revision yet, so that nothing returns to it."""
    document = revision(None, replica_set="").document()
    assert (document["waiting"], document["returned_to"], document["undo_returns"]) == (
        True,
        False,
        False,
    )


@pytest.mark.parametrize("width", [80, 100, 120])
def test_it_fits_the_width_and_keeps_the_marks(width: int) -> None:
    """Long images and causes are cut; the mark never is."""
    long = revision(
        1,
        images=("registry.example.com/" + "shop/" * 20 + "web:1",),
        change_cause="火" * 100,
        pods=2,
        running=True,
        returned_to=True,
    )
    lines = history_table([long, revision(2)], NOW, Style(width=width)).splitlines()
    assert all(columns(line) <= width for line in lines)
    mark = "<- returned to" if width < 100 else "<- a failure would return here"
    assert lines[2].endswith(f"running {mark}")


def judged(reason: Reason | None = None, actor: str = "", commit: str = "") -> JudgedVersion:
    """Return what is remembered of a version since two days ago."""
    why = Cause(reason, CleanText("why")) if reason is not None else None
    origin = Origin("https://ci/7", actor, commit)
    at = "2026-11-19T12:00:00+00:00"
    return JudgedVersion("1", (), FrozenMap(), why=why, judged_at=at, origin=origin)


@pytest.mark.contract("B190")
def test_what_is_remembered_of_a_version_stands_beside_it() -> None:
    """Verdict, who and commit; nothing where nothing is remembered."""
    rows = [
        revision(3, pods=2, judged=judged(Reason.CRASH_LOOP, "bob", "2" * 40), running=True),
        revision(2, judged=judged(None, "alice", "1" * 40)),
        revision(1),
    ]
    assert history_table(rows, NOW, Style(width=140)) == (
        "REVISION  AGE  PODS  VERDICT                   BY     COMMIT    IMAGES      CHANGE CAUSE\n"
        "       3   5m     2  failed 2d ago: CrashLoop  bob    22222222  shop/web:3  -             "
        "running\n"
        "       2   5m     0  verified 2d ago           alice  11111111  shop/web:2  -\n"
        "       1   5m     0  -                         -      -         shop/web:1  -\n"
    )


@pytest.mark.contract("B190")
@pytest.mark.parametrize(
    ("reason", "verdict", "said"),
    [
        (None, Verdict.VERIFIED, "verified 2d ago"),
        (Reason.TIMEOUT, Verdict.FAILED, "failed 2d ago: Timeout"),
        (Reason.INTERRUPTED, Verdict.INTERRUPTED, "interrupted 2d ago"),
        (Reason.UNREACHABLE, Verdict.NOT_JUDGED, "not judged 2d ago: Unreachable"),
        (Reason.SIBLING_FAILED, Verdict.NOT_JUDGED, "not judged 2d ago: SiblingFailed"),
    ],
)
def test_each_verdict_is_told_from_the_others(
    reason: Reason | None, verdict: Verdict, said: str
) -> None:
    """What ended an attempt without a word on its version is no failure of it."""
    one = revision(1, judged=judged(reason))
    assert f"  {said}  " in history_table([one], NOW, Style(width=140))
    told = one.document()
    assert (told["verdict"], told["reason"]) == (verdict, reason or "")


@pytest.mark.contract("B190")
def test_a_stream_that_is_too_narrow_for_the_table_has_blocks() -> None:
    """Nothing is left out of them, and neither a verdict nor its reason is cut."""
    one = revision(
        7, judged=judged(Reason.CRASH_LOOP, "somebody", "1" * 40), running=True, returned_to=True
    )
    lines = history_table([one, revision(2)], NOW, Style(width=40)).splitlines()
    assert all(columns(line) <= 40 for line in lines)
    blocks = "\n".join(lines).split("\n\n")
    assert [block.split()[:2] for block in blocks] == [["REVISION", "7"], ["REVISION", "2"]]
    said = " ".join(blocks[0].split())
    for part in ("CrashLoop", "BY somebody", "COMMIT 1111111", "current <- returned to"):
        assert part in said, said
    assert "…" not in said


@pytest.mark.parametrize("created_at", ["", "yesterday", "2026-11-21T11:55:00"])
def test_an_unreadable_age_is_a_question_mark(created_at: str) -> None:
    """What is not known is not made up."""
    text = history_table([revision(None, created_at=created_at)], NOW, Style())
    assert text.splitlines()[1].split()[:2] == ["?", "?"]


def test_hostile_causes_stay_in_their_cell() -> None:
    """A change cause is somebody else's text."""
    text = history_table([revision(1, change_cause="a\n::error::b\x1b[2J")], NOW, Style())
    assert len(text.splitlines()) == 2
    assert "\x1b" not in text


@pytest.mark.contract("B877")
def test_all_that_an_undo_lacks_is_named_off_a_terminal() -> None:
    """On one, as many names as leave room for the table."""
    lacks = tuple(f"configmap/settings-{n}" for n in range(4))
    one = revision(1, returns=Returns(undo="web-1", undo_lacks=lacks))
    assert f"without {', '.join(lacks)}" in history_table([one], NOW, Style(width=1_000_000))
    narrower = history_table([one], NOW, Style(width=120))
    assert "without configmap/settings-0 and 3 more" in narrower


def test_no_revision_is_said() -> None:
    """An empty table would look like a fault."""
    assert history_table([], NOW, Style()) == "no revisions\n"


@pytest.mark.contract("B190")
def test_a_revision_as_json() -> None:
    """`--output json` has the same facts."""
    assert revision(3, running=True).document() == {
        "revision": 3,
        "replicaset": "web-3",
        "images": ["shop/web:3"],
        "change_cause": "",
        "created_at": "2026-11-21T11:55:00Z",
        "pods": 0,
        "running": True,
        "waiting": False,
        "returned_to": False,
        "return_lacks": [],
        "undo_returns": False,
        "undo_lacks": [],
        "undo_conflicts": [],
        "verdict": None,
        "reason": "",
        "message": "",
        "judged_at": "",
        "actor": "",
        "commit": "",
        "run_url": "",
    }


@pytest.mark.contract("B190")
def test_a_narrow_terminal_has_the_verdict_and_the_marks() -> None:
    """Who, commit and change cause go first; nothing is wider than it."""
    shown: dict[int, str] = {}
    one = revision(
        1,
        judged=judged(Reason.PROGRESS_DEADLINE_EXCEEDED, "a-long-name-of-somebody", "1" * 40),
        change_cause="a long change cause",
        running=True,
        returned_to=True,
    )
    for width in (30, 40, 60, 70, 80, 100, 120, 160):
        lines = history_table([one], NOW, Style(width=width)).splitlines()
        assert all(columns(line) <= width for line in lines)
        shown[width] = " ".join(lines[0].split())
    assert shown == {
        30: "REVISION 1",
        40: "REVISION 1",
        60: "REVISION 1",
        70: "REVISION AGE PODS VERDICT IMAGES",
        80: "REVISION AGE PODS VERDICT IMAGES",
        100: "REVISION AGE PODS VERDICT IMAGES CHANGE CAUSE",
        120: "REVISION AGE PODS VERDICT COMMIT IMAGES CHANGE CAUSE",
        160: "REVISION AGE PODS VERDICT BY COMMIT IMAGES CHANGE CAUSE",
    }
