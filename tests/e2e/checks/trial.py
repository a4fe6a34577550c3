"""A Deployment `web` on trial: the traffic of its versions, and the checks that the gate asks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import assert_ended
from tests.bed.scene import Scene, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.engines.application import Application
from tests.engines.traffic import METRIC, Load

# A scrape takes a second, VictoriaMetrics shows it a second or two later (more on a busy machine),
# and keeps for ten seconds that it knew nothing where it was asked too soon.
SETTLED = "7s"
WINDOW = "3s"
BRISK: dict[str, Any] = {"interval": "1s", "initial-delay": SETTLED}

OF_PODS = 'namespace="${namespace}",pod=~"${replicaset}-.*"'
OF_ALL = 'namespace="${namespace}"'
BOTH_AT_ONCE = {"rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}


@dataclass(frozen=True, slots=True)
class Trial:
    """What a test of checks plays with; `url` is where the gate finds Prometheus."""

    scene: Scene
    application: Application
    url: str

    def direct(self, version: int, load: Load) -> None:
        """Ask each pod of a version that much from now on."""
        self.application.direct(self.scene.objects.namespace, f"shop/web:{version}", load)

    def configure(self, *checks: Mapping[str, Any], **keys: Any) -> None:
        """Write the configuration file that the gate finds in its folder."""
        access = {"url": self.url, **keys.pop("prometheus", {})}
        document = {"prometheus": access, "checks": [dict(check) for check in checks], **keys}
        text = yaml.safe_dump(document, sort_keys=False)
        (self.scene.folder / "rollout-gate.yaml").write_text(text)

    def apply(self, *flags: str, **over: object) -> Result:
        """Apply version 2 with the gate, to the end."""
        with self.applying(*flags, **over) as running:
            return running.wait()

    def applying(self, *flags: str, **over: object) -> CheckedRun:
        """Start to apply version 2; `over` as for `tests.bed.scene.web`."""
        return self.scene.applying(web(2, **over), flags=flags)


def overlapping(seconds: int) -> dict[str, object]:
    """Let both versions serve for that long: one of two new pods takes its time to be ready."""
    return {"behaviour": f"ready={seconds};only=1", "strategy": BOTH_AT_ONCE}


def errors(**over: object) -> dict[str, Any]:
    """Return the ready-made check of errors, asked as often as a test can wait."""
    return {"use": "error-rate", "window": WINDOW, **BRISK, **over}


def latency(**over: object) -> dict[str, Any]:
    """Return the ready-made check of latency, asked as often as a test can wait."""
    return {"use": "latency-p99", "window": WINDOW, **BRISK, **over}


def query(name: str, text: str, **keys: object) -> dict[str, Any]:
    """Return a check of a query of its own."""
    return {"name": name, "query": text, "window": WINDOW, **BRISK, **keys}


def share_of_errors(selector: str, window: str = "${window}") -> str:
    """Return the query for the share of failed requests.

    By `increase`: `rate` of VictoriaMetrics before 1.86 looks back several scrapes, however short
    the window is.
    """
    every = f"sum(increase({METRIC}_count{{{selector}}}[{window}]))"
    bad = every.replace("}[", ',http_response_status_code=~"5.."}[')
    return f"({bad} or vector(0)) / {every}"


def p99(selector: str) -> str:
    """Return the query for the latency that 99 of 100 requests keep, in seconds."""
    return (
        f"histogram_quantile(0.99, sum by (le) (rate({METRIC}_bucket{{{selector}}}[${{window}}])))"
    )


def assert_failed_by_a_check(result: Result, measured: str) -> JSON:
    """Assert that a check rolled the version back, and that its measurement is named.

    `measured` is a pattern for the check's name and measurement, as in `errors: 0.2 is not <= 0.1`:
    it stands in the document, in its timeline and in the text for people. Returns the document of
    the Deployment.
    """
    ended = assert_ended(result, 4, "rolled-back", "CheckFailed", running="baseline")
    texts = [result.document["message"], *messages(result, "failed"), result.stderr]
    assert all(re.search(measured, text) for text in texts), f"{texts}\n{result}"
    return ended


def row(result: Result, name: str) -> JSON:
    """Return what the result document says of a check."""
    [found] = [each for each in rows(result) if each["name"] == name]
    return found


def rows(result: Result) -> Sequence[JSON]:
    """Return what the result document says of all checks."""
    found: list[JSON] = result.document["checks"]
    return found


def messages(result: Result, event: str) -> Iterator[str]:
    """Iterate what the timeline says of a kind of event."""
    timeline = result.document["timeline"]
    return (str(each["message"]) for each in timeline if each["event"] == event)
