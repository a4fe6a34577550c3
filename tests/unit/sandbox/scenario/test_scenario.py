"""Scenario files: what they say, what is wrong with them, and whom their images mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.failure import SandboxError
from sandbox.json import JSON
from sandbox.kubelet.behaviour import Clause, Kind, PullFailure
from sandbox.scenario.document import Report, ScenarioError
from sandbox.scenario.images import fits
from sandbox.scenario.scenario import NoAnswer, Scenario, load, parse

WHOLE = """
images:
  "shop/web:2":
    0s: image-pull;why=rate-limit
    1m: ready
  "*:bad": "crash=1, slow-termination=3"
logs:
  "*:bad": cannot reach the database
checks:
  errors: {0s: 0, 40s: 0.2, 50s: no-data}
  latency: 0.1
events:
  30s:
    - quota pods=4 cpu=2
    - delete-pod web
  20s: scale   web 5
  1m30s: pause shop/web
"""


def read(text: str) -> Scenario:
    """Return the scenario of a text."""
    return parse(text, Report("s.yaml"))


def test_a_scenario_says_what_happens_when() -> None:
    """Images, logs, checks and events are read, each with its times in their order."""
    scenario = read(WHOLE)
    web, bad = scenario.images.rules
    assert web.pattern == "shop/web:2"
    assert web.behaviour.at(59) == (Clause(Kind.IMAGE_PULL, why=PullFailure.RATE_LIMIT),)
    assert web.behaviour.at(60) == (Clause(Kind.READY),)
    assert [clause.kind for clause in bad.behaviour.at(0) or ()] == [
        Kind.CRASH,
        Kind.SLOW_TERMINATION,
    ]
    assert scenario.images.times == (0.0, 60.0)
    assert scenario.images.log("shop/web:bad") == "cannot reach the database"
    assert [(event.at, event.text) for event in scenario.events] == [
        (20.0, "scale web 5"),
        (30.0, "quota pods=4 cpu=2"),
        (30.0, "delete-pod web"),
        (90.0, "pause shop/web"),
    ]


def test_measurements_hold_from_their_second_on() -> None:
    """A check has a number, no data, or nothing before its first second."""
    checks = read(WHOLE).checks
    assert [checks["errors"].at(second) for second in (0, 39.9, 40, 50)] == [
        0.0,
        0.0,
        0.2,
        NoAnswer.NO_DATA,
    ]
    assert checks["latency"].at(1000) == 0.1
    assert read("checks: {late: {10s: unreachable}}").checks["late"].at(9) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1:1: is empty"),
        ("- a", "1:1: expected a mapping of images, logs, checks, events, nodes"),
        ("image: {}", "1:1: no such section: image; there are images, logs, checks, events, nodes"),
        ("images: web", "1:9: expected images with their behaviours"),
        ("images: {a: crush}", "1:13: no such behaviour: crush; there are ready"),
        ("images:\n  a: 'ready, crush'", "2:14: no such behaviour: crush"),
        ("images:\n  a: ready, crush", "2:13: no such behaviour: crush"),
        ("images: {a: {1s: [crash]}}", "1:18: expected a behaviour"),
        ("images: {a: {1s: crash, 1.0s: oom}}", "1:25: given twice: 1.0s"),
        ("images: {a: crash, a: oom}", "1:20: given twice: a"),
        ("images: {a: }", "1:12: expected a behaviour, or seconds with one each"),
        ("images:\n  *:bad: crash", "put quotes around what begins with *"),
        ("images: {a: &x crash, b: *x}", "1:26: an alias"),
        ("checks: {e: high}", "1:13: not a measurement: high; a number, no-data or unreachable"),
        ("checks: {e: 0 then 1}", "1:13: "),
        ("checks: {e: 0 until 9s then 1 until 9s then 2}", "1:13: 9s is not later than"),
        ("events: {1s: explode web}", "1:14: no such event: explode; there are scale, pause"),
        ("events: {1s: scale web}", "1:14: scale: expected scale WORKLOAD REPLICAS"),
        ("events: {1s: edit web spec}", "1:14: edit: expected edit WORKLOAD PATH=VALUE"),
        ("events: {1s: quota}", "1:14: quota: expected quota RESOURCE=LIMIT"),
        ("images: {a: crash", "1:18: not YAML: "),
        ('images: {"\\e[31m": {1s: "\\e[31m"}}', "no such behaviour: \\x1b[31m"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, said: str) -> None:
    """The message begins with file, line and column and names what there is instead."""
    with pytest.raises(ScenarioError) as raised:
        read(text)
    [problem] = raised.value.problems
    assert problem.startswith("s.yaml:")
    assert said in problem


@pytest.mark.contract("B308")
def test_every_mistake_is_told_at_once_in_the_order_of_the_file() -> None:
    """Four mistakes are four problems."""
    text = "events: {soon: pause}\nimages: {a: crush}\nlog: {}\n"
    with pytest.raises(ScenarioError) as raised:
        read(text)
    places = [":".join(problem.split(":")[1:3]) for problem in raised.value.problems]
    assert places == ["1:10", "1:16", "2:13", "3:1"]


@pytest.mark.parametrize("text", ["[" * 5000 + "]" * 5000, "a" * 300_000])
def test_a_monstrous_file_is_refused(text: str) -> None:
    """Neither depth nor size takes the program down."""
    with pytest.raises(ScenarioError):
        read(text)


def test_a_file_is_read(tmp_path: Path) -> None:
    """`load` names the file in its errors; one that is missing or not text is an error too."""
    path = tmp_path / "fears.yaml"
    path.write_text(WHOLE)
    assert load(str(path)) == read(WHOLE)
    path.write_text("images: 3")
    with pytest.raises(ScenarioError, match=f"^{path}:1:9: "):
        load(str(path))
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SandboxError, match="not UTF-8"):
        load(str(path))
    with pytest.raises(SandboxError, match="No such file"):
        load(str(tmp_path / "missing.yaml"))


def pod(*images: str, init: tuple[str, ...] = ()) -> JSON:
    """Return a pod with a container for each image: `c0`, `c1`, and `i0` for init containers."""
    return {
        "spec": {
            "containers": [{"name": f"c{n}", "image": image} for n, image in enumerate(images)],
            "initContainers": [{"name": f"i{n}", "image": image} for n, image in enumerate(init)],
        }
    }


@pytest.mark.parametrize(
    ("pattern", "image", "is_meant"),
    [
        ("shop/web:2", "shop/web:2", True),
        ("shop/web:2", "shop/web:21", False),
        ("shop/web:2.*", "shop/web:2.1", True),
        ("shop/web:2.*", "shop/web:211", False),
        ("*:bad", "shop/web:bad", True),
        ("*/web:*", "registry.example.com:5000/shop/web@sha256:1", False),
        ("*", "shop/web", True),
        ("shop/w?b:2", "shop/web:2", False),
    ],
)
def test_a_star_stands_for_anything(pattern: str, image: str, is_meant: bool) -> None:
    """Only the star is special, and the whole image has to fit."""
    assert fits(pattern, image) is is_meant


def asked(text: str, item: JSON, seconds: float = 0.0) -> list[tuple[str, str | None]]:
    """Return the kinds that are asked for, with their containers."""
    images = parse(text, Report("s.yaml")).images
    return [(clause.kind.value, clause.container) for clause in images.clauses(item, seconds)]


def test_a_rule_is_for_the_containers_of_its_image() -> None:
    """Wherever the image is in the pod, its container is the one that suffers."""
    item = pod("shop/web:1", "mesh/proxy:2", init=("shop/migrate:1",))
    text = 'images: {"mesh/*": crash, "shop/migrate:*": oom}'
    assert asked(text, item) == [("oom", "i0"), ("crash", "c1")]
