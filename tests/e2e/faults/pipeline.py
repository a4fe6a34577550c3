"""The environment of a CI job: its later steps may finish at once what an earlier one left."""

from __future__ import annotations

from tests.faults.connections import Held

JOB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SERVER_URL": "https://github.test",
    "GITHUB_REPOSITORY": "shop/web",
    "GITHUB_RUN_ID": "7",
    "GITHUB_RUN_ATTEMPT": "1",
    "GITHUB_JOB": "deploy",
}
OTHER_JOB = JOB | {"GITHUB_RUN_ID": "8"}
REACH_SECONDS = 30.0


def wait_until_held(held: Held) -> None:
    """Return when the request has come that is held; `TimeoutError`."""
    if not held.reached.wait(REACH_SECONDS):
        raise TimeoutError("the request that is to be held never came")
