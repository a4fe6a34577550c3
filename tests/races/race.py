"""One race, on any bed: two gates with a version each, the second a moment after the first."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bed.bed import Bed
from tests.bed.checked_gate import CheckedGate, Place
from tests.bed.scene import Scene, web
from tests.cluster.audit import Request, Requests, Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import is_complete

LATEST_SECONDS = 4.0
END_SECONDS = 300.0
BAD = "crash=0.1"
BEHAVIOURS = ("ready=0.5", "ready=2", BAD)
RUNS = ("7", "8")
"""The pipeline run of each gate, with which the name begins that it gives itself as a holder."""

Wait = Callable[[float], object]
"""Lets so many seconds of the bed's time pass."""


@dataclass(frozen=True, slots=True)
class Race:
    """How a race ended; `behaviours` are those of versions 2 and 3, `live` the Deployment."""

    behaviours: tuple[str, str]
    codes: tuple[int, int]
    requests: Requests
    live: JSON


def run(bed: Bed, seed: int, wait: Wait) -> Race:
    """Let two gates race for the Deployment `web`, which serves; the seed decides how."""
    chance = random.Random(seed)
    behaviours = (chance.choice(BEHAVIOURS), chance.choice(BEHAVIOURS))
    program, secrets = bed.users.everything()
    gate = CheckedGate(program, Place.of(bed), secrets)
    scene = Scene(bed.client, bed.objects, bed.history, gate, bed.kubectl, bed.folder)
    scene.serve(web())
    assert bed.audit is not None
    trail = Trail(bed.audit, bed.audit.mark())

    def words(number: int) -> tuple[str | Path, ...]:
        path = scene.manifest(web(number, behaviour=behaviours[number - 2]))
        return "apply", "-f", path, "--output", "json"

    one_words, other_words = words(2), words(3)
    with program.start(*one_words, env=_job(RUNS[0])) as one:
        wait(chance.uniform(0.0, LATEST_SECONDS))
        with program.start(*other_words, env=_job(RUNS[1])) as other:
            first, second = one.wait(END_SECONDS), other.wait(END_SECONDS)
    sent = trail.requests().of(namespace=bed.objects.namespace)
    live = scene.objects.get("deployments", "web")
    return Race(behaviours, (first.exit_code, second.exit_code), sent, live)


def _job(number: str) -> dict[str, str]:
    return {"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": number, "GITHUB_JOB": "deploy"}


# -- what has to come of it ------------------------------------------------------------------------


def assert_right(race: Race) -> None:
    """Assert that both came to the right end, one after the other, whoever was first."""
    expected = tuple(4 if behaviour == BAD else 0 for behaviour in race.behaviours)
    assert race.codes == expected, f"exit {race.codes}, not {expected}"
    assert_in_turn([image for _, image in _templates(race.requests)], race.behaviours)
    assert_held(race.requests)
    assert is_complete(race.live), race.live["status"]


def assert_in_turn(sent: Sequence[str], behaviours: Sequence[str]) -> None:
    """Assert that what one gate sent stands together: its version, and its way back if it failed.

    What the second one returns to is what the first one left.
    """
    order = [2, 3] if sent[0] == _image(2) else [3, 2]
    expected, serving = [], _image(1)
    for number in order:
        expected.append(_image(number))
        if behaviours[number - 2] == BAD:
            expected.append(serving)
        else:
            serving = _image(number)
    assert list(sent) == expected, f"{list(sent)}, not {expected}"


def assert_held(requests: Requests) -> None:
    """Assert that who wrote to the Deployment held its lock by then, its way back included."""
    runs = {_image(2): RUNS[0], _image(3): RUNS[1]}
    begun: set[str] = set()
    writer = ""
    for holder, image in _templates(requests):
        if image in runs and image not in begun:
            begun.add(image)
            writer = runs[image]
        assert holder.startswith(f"{writer}/"), f"{image} was written while {holder!r} held it"


def _templates(requests: Requests) -> Iterator[tuple[str, str]]:
    """Iterate the images that were sent, with who held the lock when they were."""
    holder = ""
    for request in requests.writes().where(lambda each: each.succeeded):
        if request.resource == "leases":
            assert request.answer is not None
            holder = request.answer["spec"].get("holderIdentity", "")
        elif image := _image_of(request):
            yield holder, image


def _image_of(request: Request) -> str:
    """Return the image that a write asks for, "" where it sends no template of a Deployment."""
    body = request.body
    about = request.resource == "deployments" and request.sends_template
    if not about or not isinstance(body, dict):
        return ""
    return str(body["spec"]["template"]["spec"]["containers"][0]["image"])


def _image(number: int) -> str:
    return f"shop/web:{number}"
