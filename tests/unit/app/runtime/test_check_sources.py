"""What answers the checks of a run: made for what is asked, one lane's worker, ended with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import responses

from gate.app.runtime.check_sources import open_sources, performer, sources
from gate.clock import SystemClock
from gate.config import Settings, load
from gate.core.checks.questions import (
    Answers,
    CommandQuestion,
    Exit,
    HttpQuestion,
    MetricQuestion,
    Question,
    Questions,
    Samples,
    Trouble,
)
from gate.core.checks.questions import Errored as NoAnswer
from gate.core.checks.tick_grid import Tick
from gate.core.model.objects import CleanText
from gate.core.protocol.effects import Ask
from gate.core.protocol.events import Answered
from tests.unit.app.metrics import BASE, CHECK, Metrics

SERVICE = "https://shop.example/live"
EVERY: dict[str, Any] = {
    "prometheus_url": BASE,
    "check": [CHECK],
    "http_check": [SERVICE],
    "smoke_test": ["echo well"],
}


def settings(**options: Any) -> Settings:
    """Return the settings of an apply with these options."""
    return load("apply", options, environ={}, folder=Path("/nowhere"))


@pytest.fixture
def service(metrics: Metrics) -> Iterator[None]:
    """Answer for the service under test, and for Prometheus."""
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        mock.get(SERVICE, status=204)
        yield


def the_ask(question: Question) -> Ask:
    """Return the effect that asks one question."""
    return Ask(7, "errors", Tick(0, 0.0), Questions(question))


@pytest.mark.contract("B462")
def test_a_query_is_answered_by_prometheus(metrics: Metrics) -> None:
    """The effect's id comes back with the numbers, and with when they came."""
    clock = SystemClock()
    perform = performer(sources(settings(**EVERY), clock), clock)
    before = clock.now()
    event = perform(the_ask(MetricQuestion("sum(up)", clock.now())))
    assert isinstance(event, Answered)
    assert event.effect_id == 7
    assert before <= event.at <= clock.now()
    assert isinstance(event.answers.value, Samples)
    assert metrics.asked == ["sum(up)"]


@pytest.mark.contract("B426")
@pytest.mark.parametrize(("given", "says"), [((), ""), (("SHOP_TOKEN",), "s3cret")])
def test_a_command_has_the_variables_that_it_was_given(
    given: tuple[str, ...], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--smoke-test-env`, and no other of the pipeline's."""
    monkeypatch.setenv("SHOP_TOKEN", "s3cret")
    made = sources(settings(**EVERY, smoke_test_env=given), SystemClock())
    said = made.ask(Questions(CommandQuestion(("sh", "-c", 'printf %s "$SHOP_TOKEN"'))), "echo")
    assert isinstance(said, Answers)
    assert said.value == Exit(0, CleanText(says))


@pytest.mark.contract("B462")
def test_what_was_measured_is_told(metrics: Metrics) -> None:
    """A recording hears each answer with the check's name and its tick, as the attempt does."""
    heard: list[tuple[str, Tick, Answers | NoAnswer]] = []

    def measured(check: str, tick: Tick, said: Answers | NoAnswer) -> None:
        heard.append((check, tick, said))

    clock = SystemClock()
    event = performer(sources(settings(**EVERY), clock), clock, measured)(
        the_ask(MetricQuestion("sum(up)", clock.now()))
    )
    assert isinstance(event, Answered)
    assert heard == [("errors", Tick(0, 0.0), event.answers)]


@pytest.mark.contract("B462")
@pytest.mark.parametrize(
    ("options", "question"),
    [
        ({}, MetricQuestion("up", 0.0)),
        ({"prometheus_url": BASE}, MetricQuestion("up", 0.0)),
        ({"http_check": [SERVICE]}, CommandQuestion(("true",))),
        ({"smoke_test": ["true"]}, HttpQuestion(SERVICE)),
    ],
)
def test_only_what_is_checked_is_made(options: dict[str, Any], question: Question) -> None:
    """What no check asks has no source: it cannot be reached by mistake."""
    said = sources(settings(**options), SystemClock()).ask(Questions(question))
    assert isinstance(said, NoAnswer)
    assert said.trouble is Trouble.ADDRESS


@pytest.mark.contract("B462", "B430")
def test_what_is_under_way_ends_with_the_run() -> None:
    """A smoke test that hangs is ended, and nothing is asked any more."""
    with ExitStack() as stack:
        made = open_sources(sources, settings(smoke_test=["sleep 600"]), SystemClock(), stack)
        said: list[Answers | NoAnswer] = []
        question = Questions(CommandQuestion(("sleep", "600"), timeout_seconds=600.0))
        asking = threading.Thread(
            target=lambda: said.append(made.ask(question, "sleep")), daemon=True
        )
        asking.start()
    asking.join(20.0)
    (end,) = said
    assert isinstance(end, NoAnswer)
    assert end.trouble is Trouble.CANCELLED
