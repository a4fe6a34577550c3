"""The metrics of a run and its log: what is delivered of it, and that nothing of it decides."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.bed.expectations import assert_rolled_back, assert_verified, warned
from tests.bed.scene import Scene, web
from tests.cluster.command import Result

pytestmark = pytest.mark.sandbox_only("what is measured of a run does not depend on its bed")

TEXTFILE = ("--metrics-textfile", "gate.prom")
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{SPAN}-01"

Values = Mapping[tuple[str, ...], float]


def measured(scene: Scene, name: str, *labels: str) -> Values:
    """Return the values of a metric in the file, by some of its labels."""
    text = (scene.folder / "gate.prom").read_text()
    samples = (each for family in text_string_to_metric_families(text) for each in family.samples)
    return {
        tuple(sample.labels[label] for label in labels): sample.value
        for sample in samples
        if sample.name == f"rollout_gate_{name}"
    }


def ended(scene: Scene) -> set[tuple[str, ...]]:
    """Return how the last attempts ended: Deployment, outcome, reason."""
    return set(measured(scene, "attempts_total", "deployment", "outcome", "reason"))


def apply_with(scene: Scene, *words: str, env: Mapping[str, str]) -> Result:
    """Apply version 2 with more in the environment, with a result document on stdout."""
    words = ("apply", "-f", str(scene.manifest(web(2))), "--output", "json", *words)
    with scene.gate.start(*words, env=env) as running:
        return running.wait()


# -- what is measured ------------------------------------------------------------------------------


@pytest.mark.contract("B610", "B612")
def test_a_rollback_is_measured(scene: Scene) -> None:
    """How it ended and why, how long it took, each phase of both ways, and what was sent."""
    scene.serve(web())
    result = scene.apply(web(2, behaviour="crash=0.1"), flags=TEXTFILE)
    assert_rolled_back(result, "CrashLoop")
    assert ended(scene) == {("web", "rolled-back", "CrashLoop")}
    namespace = scene.objects.namespace
    last = measured(scene, "last_attempt_outcome", "namespace", "deployment", "outcome")
    assert [key for key, value in last.items() if value] == [(namespace, "web", "rolled-back")]
    [took] = measured(scene, "last_attempt_duration_seconds").values()
    assert took == pytest.approx(result.document["duration_seconds"], abs=0.5)
    phases = measured(scene, "phase_duration_seconds", "leg", "phase")
    assert {("forward", "preparing"), ("forward", "following"), ("back", "following")} <= set(
        phases
    )
    assert sum(phases.values()) == pytest.approx(took, abs=0.01)
    [delay] = measured(scene, "evidence_to_rollback_seconds").values()
    assert 0 <= delay < 5
    requests = measured(scene, "api_requests_total", "verb", "code")
    assert requests["PATCH", "200"] >= 2
    assert requests["WATCH", "200"] >= 4
    assert measured(scene, "last_attempt_info", "command", "cluster_uid") == {
        ("apply", result.document["cluster_uid"]): 1.0
    }


# -- nothing of it decides -------------------------------------------------------------------------


@contextmanager
def closed_port() -> Iterator[int]:
    """Yield a port that somebody holds and nobody listens on."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.mark.contract("B616", "B617")
def test_whatever_metrics_meet_is_a_warning(scene: Scene) -> None:
    """A file that cannot be written, a port that is taken, a Pushgateway that refuses."""
    with closed_port() as port, socket.create_server(("127.0.0.1", 0)) as taken:
        flags = ["--metrics-textfile", "/dev/full"]
        flags += ["--metrics-listen", str(taken.getsockname()[1])]
        flags += ["--pushgateway", f"http://127.0.0.1:{port}"]
        with scene.gate.start(
            "apply", "-f", scene.manifest(web()), *flags, "--output", "json",
            env={"NO_PROXY": "127.0.0.1"},
        ) as running:  # fmt: skip
            result = running.wait()
    assert_verified(result)
    said = result.stderr
    assert "nothing listens on 127.0.0.1:" in said
    assert "/dev/full could not be written: No space left" in said
    assert "the metrics were not pushed: " in said
    assert not warned(result, "pushed")


@pytest.mark.contract("B617")
def test_everything_else_is_complete_before_metrics_are_pushed(scene: Scene) -> None:
    """A job that is killed meanwhile has its report."""
    seen: list[bool] = []

    class Gateway(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            seen.append((scene.folder / "report.json").exists())
            self.send_response(202)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's
            pass

    with HTTPServer(("127.0.0.1", 0), Gateway) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        flags = ("--report", "json=report.json", "--pushgateway", url)
        result = apply_with(scene, *flags, env={"NO_PROXY": "127.0.0.1"})
        server.shutdown()
        serving.join()
    assert_verified(result)
    assert seen == [True]


@pytest.mark.contract("B181", "B624")
@pytest.mark.parametrize("command", ["apply", "preflight"])
@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--metrics-listen", "every:where:9464"),
        ("--metrics-listen", "127.0.0.1:99999"),
        ("--metrics-listen", "a b:1"),
        ("--pushgateway", "gateway:9091"),
        ("--pushgateway", "http://user:sesame@gateway"),
        ("--pushgateway", "http://gateway?x=y"),
        ("--pushgateway", "http://169.254.169.254"),
        ("--pushgateway", "http://gateway/metrics/job/deploys/cluster"),
        ("--pushgateway", "http://gateway/metrics/job/deploys/my-cluster/eu"),
        ("--pushgateway", "http://gateway/metrics/job/deploys/outcome/good"),
    ],
)
def test_an_address_that_is_none_is_told_before_anything_is_sent(
    scene: Scene, command: str, flag: str, value: str
) -> None:
    """Exit 2, the option named, one line and its hint, no password shown."""
    result = scene.gate(command, "-f", scene.manifest(web()), flag, value)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {flag}: ")
    assert result.stderr.count("\n") <= 2
    assert "sesame" not in result.stderr
    assert scene.objects.find("deployments", "web") is None


# -- logs ------------------------------------------------------------------------------------------


@pytest.mark.contract("B621", "B622")
def test_each_line_says_of_which_run_it_is(scene: Scene) -> None:
    """Of the pipeline's, of the attempt, and of the trace that the pipeline runs in."""
    env = {
        "TRACEPARENT": TRACEPARENT,
        "GITLAB_CI": "true",
        "CI_PROJECT_PATH": "shop/web",
        "CI_PIPELINE_ID": "42",
    }
    result = apply_with(scene, "--log-format", "json", env=env)
    assert_verified(result)
    document = result.document
    assert document["traceparent"] == TRACEPARENT
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    assert {"cluster", "applied", "progress"} <= {line["event"] for line in lines}
    for line in lines:
        assert line["attempt"] == document["attempt"]
        assert (line["run"], line["trace_id"], line["span_id"]) == ("shop/web/42", TRACE, SPAN)
        assert line["event"].replace("-", "").isalpha()
        assert [*line][:3] == ["at", "level", "event"]


@pytest.mark.contract("B617")
def test_a_name_that_the_node_exporter_does_not_read_is_a_warning(scene: Scene) -> None:
    """The file is written all the same."""
    result = scene.apply(web(), flags=["--metrics-textfile", "gate.txt"])
    assert_verified(result)
    assert "the node exporter reads *.prom alone" in result.stderr
    assert "rollout_gate_attempts_total" in (scene.folder / "gate.txt").read_text()
