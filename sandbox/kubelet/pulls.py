"""Scripts of a container that never comes to run: its image or its configuration is missing.

Reasons, messages and events are the words of a real kubelet and containerd.
"""

from __future__ import annotations

from itertools import count

from sandbox.kubelet.behaviour import Clause, PullFailure
from sandbox.kubelet.states import (
    FOR_EVER,
    PULL_FAILED,
    Note,
    Part,
    Running,
    Script,
    Step,
    Waiting,
)


def image_pull(part: Part, clause: Clause) -> Script:
    """Fail every pull, until T has passed where there is a T."""
    rest_seconds = FOR_EVER if clause.seconds is None else clause.seconds
    message = _pull_message(part.image, clause.why)
    for attempt in count(1):
        if rest_seconds <= 0:
            break
        for step in _failed_pull(part, message, part.pace.back_off(attempt)):
            rest_seconds -= step.seconds
            yield step
    yield Step(Running(ready=True))


def image_pull_transient(part: Part, clause: Clause) -> Script:
    """Fail two pulls in T for causes that pass, then run."""
    half = (clause.seconds or 1.0) / 2
    for why in (PullFailure.RATE_LIMIT, PullFailure.TIMEOUT):
        yield from _failed_pull(part, _pull_message(part.image, why), half - part.pace.seen_seconds)
    yield Step(Running(ready=True))


def _failed_pull(part: Part, cause: str, back_off_seconds: float) -> Script:
    failed = Note("Failed", f'Failed to pull image "{part.image}": {cause}', container=part.name)
    error = Note("Failed", "Error: ErrImagePull", container=part.name)
    seen_seconds = part.pace.seen_seconds
    yield Step(Waiting(PULL_FAILED, cause), seen_seconds, (failed, error))
    backing_off = f'Back-off pulling image "{part.image}"'
    notes = (
        Note("BackOff", backing_off, "Normal", part.name),
        Note("Failed", "Error: ImagePullBackOff", container=part.name),
    )
    state = Waiting("ImagePullBackOff", f"{backing_off}: ErrImagePull: {cause}")
    yield Step(state, max(back_off_seconds, seen_seconds), notes)


def _pull_message(image: str, why: PullFailure) -> str:
    reference = f"docker.io/{image}"
    resolve = f'failed to pull and unpack image "{reference}": failed to resolve reference'
    cause = {
        PullFailure.NOT_FOUND: f'NotFound desc = {resolve} "{reference}": {reference}: not found',
        PullFailure.DENIED: f'Unknown desc = {resolve} "{reference}": pull access denied,'
        " repository does not exist or may require authorization: server message:"
        " insufficient_scope: authorization failed",
        PullFailure.RATE_LIMIT: f'Unknown desc = {resolve} "{reference}": unexpected status from'
        " HEAD request to https://registry-1.docker.io/v2/: 429 Too Many Requests",
        PullFailure.TIMEOUT: f'Unknown desc = {resolve} "{reference}": failed to do request: Head'
        ' "https://registry-1.docker.io/v2/": dial tcp 192.0.2.1:443: i/o timeout',
    }
    return f"rpc error: code = {cause[why]}"


def invalid_image_name(part: Part, _: Clause) -> Script:
    """Refuse the image's name for good."""
    message = (
        f'Failed to apply default image tag "{part.image}": couldn\'t parse image name'
        f' "{part.image}": invalid reference format'
    )
    notes = (
        Note("InspectFailed", message, container=part.name),
        Note("Failed", "Error: InvalidImageName", container=part.name),
    )
    yield Step(Waiting("InvalidImageName", message), notes=notes)


def never_pull(part: Part, _: Clause) -> Script:
    """Miss an image that may not be pulled."""
    message = f'Container image "{part.image}" is not present with pull policy of Never'
    notes = (Note("ErrImageNeverPull", message, container=part.name),)
    yield Step(Waiting("ErrImageNeverPull", message), notes=notes)


def config_error(part: Part, clause: Clause) -> Script:
    """Miss the Secret or ConfigMap that it needs, for ever or until T."""
    message = f"{part.configuration} not found"
    notes = (Note("Failed", f"Error: {message}", container=part.name),)
    seconds = FOR_EVER if clause.seconds is None else clause.seconds
    yield Step(Waiting("CreateContainerConfigError", message), seconds, notes)
    yield Step(Running(ready=True))
