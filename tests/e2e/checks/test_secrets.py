"""What proves who asks: it reaches the server, and nothing that anybody reads."""

from __future__ import annotations

import base64
from collections.abc import Mapping

import pytest

from tests.bed.bed import Bed
from tests.bed.checked_gate import CheckedGate, Place
from tests.bed.expectations import assert_refused, assert_usage, assert_verified
from tests.bed.scene import web
from tests.e2e.checks.conftest import FrontBefore, TrialOf
from tests.e2e.checks.trial import Trial, errors
from tests.engines.engine import Engine
from tests.engines.front import Asked, Reply
from tests.engines.traffic import Load

TOKEN, PASSWORD, TENANT = "canary-token-51c7", "canary-password-0fe2", "canary-tenant-77aa"
PAIR = base64.b64encode(f"gate:{PASSWORD}".encode()).decode()
BEARER = {"token-file": "token", "headers": {"X-Scope-OrgID": {"file": "tenant"}}}
BASIC = {"user-variable": "METRICS_USER", "password-variable": "METRICS_PASSWORD"}
VARIABLES = {"METRICS_USER": "gate", "METRICS_PASSWORD": PASSWORD}
EVERYWHERE = (
    "--allow-insecure",
    *("--record", "record.jsonl"),
    *("--report", "json=result.json"),
    *("--log-level", "debug"),
)


@pytest.fixture
def wary_gate(bed: Bed) -> CheckedGate:
    """Return the gate, each run held against the secrets of this file as well."""
    program, secrets = bed.users.everything()
    return CheckedGate(program, Place.of(bed), (*secrets, TOKEN, PASSWORD, TENANT, PAIR))


@pytest.mark.contract("B489", "B427", "B429")
@pytest.mark.parametrize("access", [BEARER, BASIC], ids=["bearer", "basic"])
def test_secrets_reach_the_server_and_nobody_else(
    trial_of: TrialOf,
    prometheus: Engine,
    front: FrontBefore,
    wary_gate: CheckedGate,
    access: Mapping[str, object],
) -> None:
    """A good rollout says no secret in its output, its recording, its report or its log."""
    asked = front(prometheus.url)
    trial = trial_of(asked.url)
    trial.scene.serve(web())
    trial.direct(2, Load())
    prepare(trial, access)
    manifest = trial.scene.manifest(web(2))
    with wary_gate.start("apply", "-f", manifest, *EVERYWHERE, *JSON, env=VARIABLES) as running:
        result = running.wait()
    assert_verified(result)
    for each in asked.asked:
        if access is BEARER:
            assert each.headers["Authorization"] == f"Bearer {TOKEN}"
            assert each.headers["X-Scope-OrgID"] == TENANT
        else:
            assert each.headers["Authorization"] == f"Basic {PAIR}"
    assert (trial.scene.folder / "record.jsonl").stat().st_size


JSON = ("--output", "json")


def prepare(trial: Trial, access: Mapping[str, object]) -> None:
    """Write the files of secrets, and a configuration that names them."""
    for name, text in (("token", TOKEN), ("tenant", TENANT)):
        path = trial.scene.folder / name
        path.touch(mode=0o600)
        path.write_text(f"{text}\n")
    trial.configure(errors(), prometheus=access, bake="9s")


def shows_what_it_was_sent(asked: Asked) -> Reply:
    """Refuse, and say what the request came with, as a careless proxy does."""
    came = [asked.headers.get(name, "") for name in ("Authorization", "X-Scope-OrgID")]
    return Reply(403, [f"no access with {came}".encode()], {"Content-Type": "text/plain"})


@pytest.mark.contract("B489", "B429")
@pytest.mark.parametrize("access", [BEARER, BASIC], ids=["bearer", "basic"])
def test_a_server_that_shows_secrets_is_not_quoted_with_them(
    trial_of: TrialOf, front: FrontBefore, wary_gate: CheckedGate, access: Mapping[str, object]
) -> None:
    """A refusal that repeats the request's headers is told without what is secret in them."""
    careless = front(answer=shows_what_it_was_sent)
    trial = trial_of(careless.url)
    prepare(trial, access)
    manifest = trial.scene.manifest(web(2))
    result = wary_gate("apply", "-f", manifest, *EVERYWHERE, env=VARIABLES)
    assert_refused(result, "CheckError", "403", "no access with")
    assert careless.asked


@pytest.mark.contract("B489", "B427")
def test_secrets_do_not_travel_in_plain_text(trial_of: TrialOf, front: FrontBefore) -> None:
    """Without its flag, nothing secret is sent over plain HTTP; nothing is sent at all."""
    asked = front(answer=lambda _: Reply(200))
    trial = trial_of(asked.url)
    prepare(trial, BEARER)
    assert_usage(trial.scene.apply(web(2)), "plain text")
    assert asked.asked == []
