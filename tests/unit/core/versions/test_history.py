"""What a judgement says of a version: an attempt that decided nothing makes none a bad one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body, FrozenMap
from gate.core.model.objects import CleanText, Ref, Template
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause
from gate.core.versions.closing_workload import MOST_OF_REVISIONS, ClosingWorkload
from gate.core.versions.history import (
    MOST_LEFT,
    MOST_UNJUDGED,
    MOST_UNVERIFIED,
    Closing,
    History,
    beyond_limit,
)
from gate.core.versions.judged_version import (
    RESTARTED_AT,
    JudgedVersion,
    LeftVersion,
    is_later_restart,
    template_digest,
)
from gate.core.versions.known_replicas import KnownReplicas
from gate.core.versions.open_findings import list_findings
from tests.table import each
from tests.unit.core.world import replica_set

WEB = deployment_ref("shop", "web")
SETTINGS = Ref("v1", "ConfigMap", "shop", "settings")


def judged(reason: Reason) -> JudgedVersion:
    """Return a version that was not verified for a reason."""
    return JudgedVersion("1", (), FrozenMap(), why=Cause(reason, CleanText("why")))


@pytest.mark.contract("B723")
@pytest.mark.parametrize(
    "reason",
    [
        Reason.SIBLING_FAILED,
        Reason.CHECK_ERROR,
        Reason.CHECK_INCONCLUSIVE,
        Reason.INTERRUPTED,
        Reason.UNREACHABLE,
        Reason.FORBIDDEN,
        Reason.PAUSED,
    ],
)
def test_what_says_nothing_of_a_version_makes_it_no_failed_one(reason: Reason) -> None:
    """Another one failed, a check had no answer, or the attempt was cut off."""
    assert not judged(reason).failed
    assert not judged(reason).verified


def after_end(history: History, *judged: JudgedVersion, **more: Any) -> History:
    """Return a history after an attempt that ended with judgements."""
    return history.after(Closing(WEB, judged, **more), "attempt", "", "now")


def remembered(*judged: JudgedVersion) -> History:
    """Return a history of judgements, oldest first."""
    history = History()
    for one in judged:
        history = after_end(history, one)
    return history


def of_template(template: str, why: Reason | None = None) -> JudgedVersion:
    """Return a judgement of a template, with a member of its own."""
    cause = Cause(why, CleanText("why")) if why is not None else None
    return JudgedVersion(template, (), FrozenMap({WEB: template}), why=cause)


def beside(content: str, template: str = "1", why: Reason | None = None) -> JudgedVersion:
    """Return a judgement of a template with a content of its settings."""
    one = of_template(template, why)
    return replace(one, members=FrozenMap({WEB: template, SETTINGS: content}))


@pytest.mark.contract("B851")
def test_what_an_attempt_gave_back_is_its_own_only_where_one_had_written_it() -> None:
    """Once an attempt writes that content itself it is the Deployment's, too."""
    history = remembered(beside("ours"))
    for given_back, is_ours in (("theirs", False), ("ours", True)):
        failed = beside("bad", "9", Reason.CRASH_LOOP)
        after = after_end(history, failed, beside(given_back))
        assert after.has_written(SETTINGS, given_back) is is_ours
        assert after.has_written(SETTINGS, "bad")
        written = after_end(after, beside(given_back))
        assert written.has_written(SETTINGS, given_back)


@pytest.mark.contract("B762")
def test_a_version_that_failed_since_is_not_verified_however_much_comes_after() -> None:
    """It leaves the history with its failure, and does not come back for want of that."""
    found = [of_template("1"), of_template("2"), of_template("1", Reason.CRASH_LOOP)]
    assert [one.template for one in remembered(*found).verified] == ["2"]
    assert [one.template for one in remembered(*found).once_verified] == ["2", "1"]
    later = [of_template(str(n), Reason.CRASH_LOOP) for n in range(3, 3 + MOST_UNVERIFIED)]
    assert [one.template for one in remembered(*found, *later).once_verified] == ["2"]


@pytest.mark.contract("B1542")
def test_what_a_check_left_is_remembered_however_often_its_revision_failed_since() -> None:
    """For as long as that exists: each check is one thing to answer, and the failures another."""
    template = Template(Body.of({"spec": {}}), ())
    digest = template_digest(template)
    there = ClosingWorkload("uid", (replica_set(template=template),))
    history = History()
    for number in range(MOST_UNVERIFIED + 3):
        left = of_template(digest, Reason.CRASH_LOOP)
        for check in ("a", "b") if number == 0 else ():
            why = Cause(Reason.CHECK_FAILED, CleanText("no"), check=check)
            history = after_end(history, replace(left, why=why), workload=there)
        other = replace(left, members=FrozenMap({WEB: str(number)}))
        history = after_end(history, other, workload=there)
    found = list_findings(history, template)
    assert [one.check for one in found if one.is_left_by_check] == ["b", "a"]


@pytest.mark.contract("B1495", "B536")
@each(
    ("judgements", "expected"),
    [
        ([of_template(name) for name in "1234"], "2 3 4"),
        ([of_template("1"), *(beside(one, "2") for one in "abcd")], "1 2c 2d"),
        ([beside(one, "2") for one in "abcd"], "2b 2c 2d"),
        (
            [
                *map(of_template, "12"),
                of_template("2", Reason.CRASH_LOOP),
                *(beside(one, "3") for one in "abc"),
            ],
            "1 3b 3c",
        ),
    ],
)
def test_another_pod_template_stays_remembered(
    judgements: list[JudgedVersion], expected: str
) -> None:
    """The oldest of one template alone makes room for the newest good one of another."""
    kept = reversed(remembered(*judgements).once_verified)
    names = (one.template + one.members.get(SETTINGS, "") for one in kept)
    assert " ".join(names) == expected


@pytest.mark.contract("B1495")
def test_what_an_undo_left_takes_the_room_of_no_other_pod_template() -> None:
    """Nothing returns to it, so the one before it stays."""
    history = remembered(*map(of_template, "132"))
    left = LeftVersion("3", FrozenMap({WEB: "3"}))
    history = after_end(history, of_template("2"), left=left)
    for content in "ab":
        history = after_end(history, beside(content, "2"))
    assert [one.template for one in history.once_verified] == ["2", "2", "1"]


@pytest.mark.contract("B762", "B1541")
@pytest.mark.parametrize(
    ("why", "stands"),
    [
        (Reason.PAUSED, True),
        (Reason.SIBLING_FAILED, True),
        (Reason.INTERRUPTED, True),
        (Reason.CHECK_INCONCLUSIVE, False),
    ],
)
def test_a_verification_stands_until_its_version_is_in_doubt(why: Reason, stands: bool) -> None:
    """By a check; what another one did, or who cut its attempt off, says nothing of it."""
    history = remembered(of_template("1"), of_template("1", why))
    assert bool(history.verified) is stands


@pytest.mark.contract("B762")
def test_a_failure_with_another_configuration_is_of_another_version() -> None:
    """The same pods beside other objects."""
    assert remembered(beside("one"), beside("two", why=Reason.CRASH_LOOP)).verified


@pytest.mark.contract("B1345")
def test_a_version_that_was_rolled_out_otherwise_has_failed_with_its_template() -> None:
    """By another partition, or with other replicas, its pods and what they read are the same."""
    bad = replace(beside("one", why=Reason.CHECK_FAILED), members=FrozenMap({WEB: "another"}))
    for failed in (bad, replace(bad, members=FrozenMap({WEB: "another", SETTINGS: "one"}))):
        assert not remembered(beside("one"), failed).verified
        assert remembered(beside("one"), failed, beside("one")).verified


@pytest.mark.contract("B703")
def test_what_an_undo_left_is_one_template_with_what_it_changed() -> None:
    """Neither other pods nor another configuration are given up with it."""
    left = LeftVersion("1", FrozenMap({SETTINGS: "bad"}))
    assert left.is_of(beside("bad"))
    assert not left.is_of(beside("bad", "2"))
    assert not left.is_of(beside("good"))


@pytest.mark.contract("B721")
@pytest.mark.parametrize(
    ("made_at", "verdict"), [("2026-01-01T00:00:00Z", True), ("2026-01-01T00:00:02Z", None)]
)
def test_a_replica_set_has_no_judgement_from_before_it_was_made(
    made_at: str, verdict: bool | None
) -> None:
    """`kubectl rollout restart` makes one of the template that another was verified with."""
    made = replica_set("web-2", created_at=made_at)
    version = JudgedVersion(template_digest(made.template), (), FrozenMap())
    judged = replace(version, judged_at="2026-01-01T00:00:01+00:00")
    found = History((judged,)).of_revision(made)
    assert (found.verified if found is not None else None) is verdict
    of_another = replace(judged, revision_name="web-1")
    assert History((of_another,)).of_revision(made) is None


def restarted(time: str, image: str = "shop/web:1") -> Template:
    """Return a pod template that was restarted at a time, "" for never."""
    annotations = {RESTARTED_AT: time} if time else {}
    body = {"metadata": {"annotations": annotations}, "spec": {"image": image}}
    return Template(Body.of(body if time else {"metadata": {}, "spec": {"image": image}}), ())


@pytest.mark.contract("B797")
@pytest.mark.parametrize(
    ("one", "other", "is_later"),
    [
        ("2026-01-01T00:00:00Z", "", True),
        ("", "2026-01-01T00:00:00Z", False),
        ("", "", False),
        ("2026-01-01T00:00:01Z", "2026-01-01T00:00:00Z", True),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", False),
        ("2026-01-01T01:00:00+02:00", "2026-01-01T00:00:00Z", False),
        ("yesterday", "2026-01-01T00:00:00Z", False),
        ("2026-01-01T00:00:00", "2026-01-01T00:00:00Z", False),
    ],
)
def test_a_later_restart_is_one_of_the_same_template(one: str, other: str, is_later: bool) -> None:
    """`kubectl` writes the time of its own zone, and others what they like."""
    assert is_later_restart(restarted(one), restarted(other)) is is_later
    assert not is_later_restart(restarted(one, "shop/web:2"), restarted(other))


@pytest.mark.contract("B797")
def test_a_verification_answers_no_failure_of_another_replica_set() -> None:
    """A restart that failed stays known by its own, and the version counts as verified."""
    failed = replace(of_template("1", Reason.CRASH_LOOP), revision_name="web-2")
    serves = replace(of_template("1"), revision_name="web-1")
    history = remembered(serves, failed, serves)
    assert [one.revision_name for one in history.versions] == ["web-2", "web-1"]
    assert history.verified == history.versions[1:]
    found = history.failure_of(replica_set("web-2"))
    assert found is not None
    assert history.failure_of(replica_set("web-1")) is None
    again = remembered(serves, failed, replace(serves, revision_name="web-2"))
    assert [one.revision_name for one in again.versions] == ["web-2"]


@pytest.mark.contract("B76")
def test_a_scale_down_is_of_one_deployment() -> None:
    """Another one may have been made under its name since, and scaled by somebody."""
    history = History(replicas=KnownReplicas(scaled_down=True), uid="u1")
    assert history.replicas_of("u1").scaled_down
    assert not history.replicas_of("u2").scaled_down


@pytest.mark.contract("B703")
def test_an_undo_that_comes_to_what_it_left_gives_nothing_up() -> None:
    """What runs was verified just now: as of a restart that went back before it."""
    left = LeftVersion("2", FrozenMap({WEB: "2"}))
    for template, expected in (("1", ("2",)), ("2", ())):
        closing = Closing(WEB, (of_template(template),), left=left)
        after = remembered(of_template("2")).after(closing, "attempt", "", "later")
        assert tuple(one.template for one in after.left) == expected
        assert after.left_at(of_template("2")) == ("later" if expected else None)


@pytest.mark.contract("B709")
def test_what_failed_since_leaves_by_its_own_age() -> None:
    """A person may still name it: it is no older for its failure."""
    history = remembered(of_template("1"), of_template("2"), of_template("2", Reason.CRASH_LOOP))
    assert [one.template for one in history.verified] == ["1"]
    assert list(beyond_limit(history, {"1": 10, "2": 10}, 10)) == ["1"]


def after_all(count: int, why: Reason, existing: range) -> History:
    """Return what is remembered of versions that all ended alike, of which some still exist."""
    made = [replica_set(f"web-{n}", template=Template(Body.of({"n": n}), ())) for n in range(count)]
    there = ClosingWorkload("uid", tuple(made[n] for n in existing))
    history = History()
    for one in made:
        judged = replace(of_template(template_digest(one.template), why), revision_name=one.name)
        history = after_end(history, judged, workload=there)
    return history


@pytest.mark.contract("B1190")
@pytest.mark.parametrize(
    ("why", "most"),
    [
        (Reason.CRASH_LOOP, MOST_UNVERIFIED),
        (Reason.SIBLING_FAILED, MOST_UNVERIFIED),
        (Reason.NO_ROLLOUT, MOST_UNJUDGED),
    ],
)
def test_what_speaks_against_a_version_stays_while_its_revision_exists(
    why: Reason, most: int
) -> None:
    """Of the others the newest are enough; of very many revisions the newest twenty."""

    def names(history: History) -> list[str]:
        return [one.revision_name for one in (*history.versions, *history.unjudged)]

    assert names(after_all(most + 3, why, range(0))) == [f"web-{n}" for n in range(3, most + 3)]
    kept = names(after_all(most + 3, why, range(2)))
    assert kept == [f"web-{n}" for n in (0, 1, *range(3, most + 3))]
    many = MOST_OF_REVISIONS + 2
    assert names(after_all(many, why, range(many))) == [f"web-{n}" for n in range(2, many)]


@pytest.mark.contract("B1190")
def test_what_an_undo_left_stays_left_while_its_revision_exists() -> None:
    """However many were left after it."""
    first = replica_set()
    templates = [template_digest(first.template), *map(str, range(MOST_LEFT))]
    for revisions, is_left in (((first,), True), ((), False)):
        history = History()
        for one in templates:
            left, there = LeftVersion(one, FrozenMap()), ClosingWorkload("uid", revisions)
            history = after_end(history, left=left, workload=there)
        assert (history.revision_left_at(first) is not None) is is_left
