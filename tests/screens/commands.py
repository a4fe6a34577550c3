"""Screens of the commands beside `apply`."""

from __future__ import annotations

import signal

from tests.bed.scene import settings
from tests.cluster.kubelet.api import JSON
from tests.screens.objects import UNDER_WAY, web
from tests.screens.stage import Stage


def pause_and_resume(stage: Stage) -> None:
    """A rollout is held and let go."""
    stage.scene.serve(web())
    stage.run("pause web")
    stage.run("pause web")
    stage.note("kubectl set image deployment/web web=shop/web:2")
    stage.scene.kubectl("set", "image", "deployment/web", "web=shop/web:2", check=True)
    stage.run("status web")
    stage.run("resume web")


def restart(stage: Stage) -> None:
    """The pods are created again."""
    stage.scene.serve(web())
    stage.run("restart web")


def undo(stage: Stage) -> None:
    """The version before returns."""
    stage.apply(web())
    stage.apply(web(2))
    stage.run("undo web")


def undo_with_configuration(stage: Stage) -> None:
    """The version before returns with its ConfigMap."""
    stage.apply(settings(), web())
    stage.apply(settings("two"), web(2))
    stage.run("undo web")


def undo_failed(stage: Stage) -> None:
    """The version that is returned to crashes."""
    stage.scene.serve(web())
    stage.scene.apply_as("rollout-gate", web(2, behaviour="crash"))
    stage.scene.objects.wait("replicasets", lambda found: len(found) == 2)
    stage.scene.serve(web(3))
    stage.run("undo web --to-revision 2")


def undo_after_a_rollback(stage: Stage) -> None:
    """A bad version was rolled back, and somebody undoes once more."""
    stage.scene.apply(web())
    stage.scene.apply(web(2))
    stage.note("rollout-gate apply of shop/web:3, which crashes and is rolled back")
    stage.scene.apply(web(3, behaviour="crash"))
    stage.run("undo web")
    stage.run("undo web")


def undo_nothing(stage: Stage) -> None:
    """There is no version before."""
    stage.scene.serve(web())
    stage.run("undo web")


def _kill(stage: Stage, *bodies: JSON) -> None:
    """Kill an `apply` of these after its write."""
    stage.file("web.yaml", *bodies)
    with stage.start("apply -f web.yaml") as running:
        running.wait_for_line(UNDER_WAY)
        running.kill()
    stage.note("the gate was killed here")


def recover(stage: Stage) -> None:
    """A gate was killed after its write."""
    stage.scene.serve(web(), settings())
    _kill(stage, settings("two"), web(2, behaviour="ready=60"))
    stage.run("locks")
    stage.run("recover web")
    stage.run("recover web")


def recover_forward(stage: Stage) -> None:
    """A gate was killed after its write, and the new version is complete."""
    stage.scene.serve(web())
    _kill(stage, web(2))
    stage.scene.objects.wait_complete("web")
    stage.run("recover web")


def apply_after_a_kill(stage: Stage) -> None:
    """A gate was killed after its write; the next apply takes it back first."""
    stage.scene.serve(web())
    _kill(stage, web(2, behaviour="crash"))
    stage.apply(web(3))


def verify(stage: Stage) -> None:
    """Somebody else's rollout is complete."""
    stage.scene.serve(web())
    stage.scene.change(web(2, behaviour="ready=4"))
    stage.run("verify web")


def verify_failed(stage: Stage) -> None:
    """Somebody else's rollout crashes, and the old version serves beside it."""
    stage.scene.serve(web())
    stage.scene.change(web(2, behaviour="crash"))
    stage.run("verify web")


def verify_long_after(stage: Stage) -> None:
    """Containers of a version that has run for hours have restarted now and then."""
    stage.scene.serve(web(behaviour="ready-then-crash=3000"))
    stage.users.played.clock.wait(7200.0)
    stage.run("verify web")
    stage.run("status web")


def verify_alone(stage: Stage) -> None:
    """Comparisons of a version beside which no old one serves any more."""
    stage.scene.serve(web())
    query = """'latency{pod=~"${replicaset}-.*"}'"""
    ratio = f"{{name: latency, deployment: web, query: {query}, compare: {{max-ratio: 1.5}}}}"
    counts = "{use: error-share, metrics: prometheus, deployment: web}"
    for check in (ratio, counts):
        (stage.folder / "gate.yaml").write_text(f"checks: [{check}]\n")
        stage.run("verify web --config gate.yaml --prometheus-url https://prometheus.test")


def verify_crashed_before(stage: Stage) -> None:
    """Somebody else's rollout crashes, and had restarted before anybody looked."""
    stage.scene.serve(web())
    stage.scene.change(web(2, behaviour="crash", progress_deadline_seconds=600))
    stage.users.played.clock.wait(15.0)
    stage.run("verify web")


def verify_other_image(stage: Stage) -> None:
    """Another image runs than is expected."""
    stage.scene.serve(web())
    stage.run("verify web --expect-image shop/web:2")


def history(stage: Stage) -> None:
    """A good, a bad and a good version."""
    cause = "kubernetes.io/change-cause"
    stage.apply(web(annotations={cause: "first release"}))
    stage.file("bad.yaml", web(2, behaviour="crash", annotations={cause: "faster"}))
    with stage.start("apply -f bad.yaml") as running:
        running.wait()
    stage.note("rollout-gate apply -f bad.yaml, which was rolled back")
    stage.run("history web")
    stage.scene.change(web(3, behaviour="crash"))
    stage.scene.objects.wait("replicasets", lambda found: len(found) == 3)
    stage.note("kubectl apply of shop/web:3, which crashes")
    stage.run("history web")


def status(stage: Stage) -> None:
    """A Deployment that is complete."""
    stage.scene.serve(web())
    stage.run("status web")


def status_failing(stage: Stage) -> None:
    """A Deployment whose new version crashes."""
    stage.scene.serve(web())
    stage.scene.change(web(2, behaviour="crash"))
    stage.users.played.clock.wait(15.0)
    stage.run("status web")
    stage.users.played.clock.wait(300.0)
    stage.run("status web")


def status_watched(stage: Stage) -> None:
    """A rollout is watched until somebody has seen enough."""
    stage.scene.serve(web())
    stage.scene.change(web(2, behaviour="ready=30"))
    with stage.running("status web --watch") as running:
        running.wait_for_line("progressing")
        stage.users.played.clock.wait(10.0)
        running.send(signal.SIGINT)


def preflight(stage: Stage) -> None:
    """Everything before the first write."""
    stage.scene.serve(web(), settings())
    stage.file("web.yaml", settings("two"), web(2))
    stage.run("preflight -f web.yaml")


def locks(stage: Stage) -> None:
    """One lock is held, one is free."""
    stage.apply(web(name="worker"))
    stage.file("web.yaml", web(2, behaviour="ready=60"))
    with stage.start("apply -f web.yaml") as running:
        running.wait_for_line("following")
        stage.run("locks")
        running.kill()


def checks(stage: Stage) -> None:
    """Health checks are asked now."""
    stage.scene.serve(web())
    stage.measurements["errors"] = 0.9
    asked = "--check 'errors: sum(rate(errors_total[1m])) <= 0.5' --check 'up: up >= 1'"
    stage.run(f"checks web --prometheus-url https://prometheus.test {asked}")


def report_of_a_recording(stage: Stage) -> None:
    """A recording of a run that was rolled back."""
    stage.scene.serve(web())
    stage.file("web.yaml", web(2, behaviour="crash"))
    with stage.start("apply -f web.yaml --record run.jsonl") as running:
        running.wait()
    stage.note("rollout-gate apply -f web.yaml --record run.jsonl, which was rolled back")
    stage.run("report run.jsonl")
    stage.run("replay run.jsonl")
