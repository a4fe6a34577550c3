"""Screens of `apply`: one for each way in which an attempt can end."""

from __future__ import annotations

import signal
from collections.abc import Callable

from sandbox.face import NoAnswer
from tests.bed.interrupting import CRASHED
from tests.bed.policies import IN_EARNEST
from tests.bed.scene import quota, service, settings, tidying
from tests.cluster.kubelet.api import JSON
from tests.screens.objects import CHECKS, UNDER_WAY, immutable, web
from tests.screens.stage import END_SECONDS, Play, Stage


def _rolling(
    says: str,
    behaviour: str,
    flags: str = "",
    *,
    version: int | str = 2,
    page: bool = False,
    **over: object,
) -> Play:
    """Return what plays a second version, whose pods do so, after one that serves."""

    def play(stage: Stage) -> None:
        stage.scene.serve(web())
        stage.apply(web(version, behaviour=behaviour, **over), flags=flags, page=page)

    play.__doc__ = says
    return play


def _meanwhile(
    says: str,
    behaviour: str,
    meddle: Callable[[Stage], object],
    flags: str = "",
    until: str = UNDER_WAY,
) -> Play:
    """Return what plays somebody else at work beside the rollout of a second version."""

    def play(stage: Stage) -> None:
        stage.scene.serve(web())
        with stage.applying(web(2, behaviour=behaviour), flags=flags) as running:
            running.wait_for_line(until)
            meddle(stage)

    play.__doc__ = says
    return play


def _kubectl(line: str) -> Callable[[Stage], object]:
    """Return what runs a command line of kubectl."""
    return lambda stage: stage.scene.kubectl(*line.split(), check=True)


verified = _rolling("A second version runs, complete.", "ready=4", page=True)
observed = _rolling("A crash loop under --observe.", "crash", "--observe")
rolled_back_crash_loop = _rolling("All containers of the new version crash.", "crash", page=True)
rolled_back_out_of_memory = _rolling("Containers are killed for their memory.", "oom=1")
rolled_back_image_pull = _rolling("The image is not there.", "image-pull", version="2-typo")
rolled_back_never_ready = _rolling(
    "Pods run, and never get ready; the progress deadline ends it.", "never-ready"
)
rolled_back_readiness_lost = _rolling("Readiness comes and goes.", "flapping=2")
rolled_back_timeout = _rolling(
    "The budget of the run is shorter than the progress deadline.", "never-ready", "--timeout 30"
)
rolled_back_container_config = _rolling(
    "The Secret that a container asks for is not there.",
    "config-error",
    progress_deadline_seconds=600,
)
rolled_back_unschedulable = _rolling("No node takes the pods.", "unschedulable")
rolled_back_broken_in_the_bake = _rolling(
    "A complete version crashes while it bakes.", "ready-then-crash=15", "--bake 120"
)
kept = _rolling("A crash loop with --on-failure keep.", "crash", "--on-failure keep", page=True)
failed_and_paused = _rolling("A crash loop with --on-failure pause.", "crash", "--on-failure pause")

failed_paused = _meanwhile(
    "Somebody pauses the rollout in mid-flight.",
    "never-ready",
    _kubectl("rollout pause deployment/web"),
    flags="--timeout 60",
)
superseded = _meanwhile(
    "Somebody sets another image in mid-flight.",
    "ready=30",
    _kubectl("set image deployment/web web=shop/web:3"),
)
superseded_scaled = _meanwhile(
    "Somebody scales the Deployment to 0 in mid-flight.",
    "ready=30",
    _kubectl("scale deployment/web --replicas=0"),
)
superseded_scaled_after_a_crash = _meanwhile(
    "Somebody scales the Deployment to 0 since its new pod crashes.",
    "crash",
    _kubectl("scale deployment/web --replicas=0"),
    until=CRASHED,
)
superseded_deleted = _meanwhile(
    "Somebody deletes the Deployment in mid-flight.",
    "ready=30",
    lambda stage: stage.scene.objects.delete("deployments", "web"),
)


def verified_first(stage: Stage) -> None:
    """The first version of a Deployment, with a ConfigMap: nothing to return to."""
    stage.apply(settings(), web())


def verified_no_change(stage: Stage) -> None:
    """The same manifest again."""
    stage.apply(web())
    stage.apply(web())


def applied_not_judged(stage: Stage) -> None:
    """A manifest without a Deployment."""
    stage.scene.serve(web(), settings())
    stage.apply(settings("two"))


def verified_no_replicas(stage: Stage) -> None:
    """A Deployment of zero replicas."""
    stage.apply(web(replicas=0))


def verified_changed_beside(stage: Stage) -> None:
    """Somebody edits the ConfigMap in mid-flight; the Deployment is fine."""
    stage.scene.serve(web(), settings())
    with stage.applying(settings("two"), web(2, behaviour="ready=4")) as running:
        running.wait_for_line(UNDER_WAY)
        stage.scene.objects.patch("configmaps", "settings", {"data": {"mode": "theirs"}})


def verified_not_judged_beside(stage: Stage) -> None:
    """A CronJob and a Service beside the Deployment: the first line names what nobody judged."""
    stage.apply(service(), tidying(), web(), page=True)


def rolled_back_not_judged_beside(stage: Stage) -> None:
    """A CronJob goes back with the Deployment: nobody judged what it returned to."""
    stage.scene.serve(tidying(), web())
    stage.apply(tidying(2), web(2, behaviour="crash"))


def verified_by_checks(stage: Stage) -> None:
    """Health checks pass."""
    stage.scene.serve(web())
    stage.apply(web(2), flags=CHECKS)


def rolled_back_with_configuration(stage: Stage) -> None:
    """A crash loop with a changed and a new object beside the Deployment."""
    stage.scene.serve(web(), settings())
    new: JSON = {**settings(), "metadata": {"name": "more"}}
    stage.apply(settings("two"), new, web(2, behaviour="crash"))


def rolled_back_init_container(stage: Stage) -> None:
    """An init container crashes."""
    stage.scene.serve(web())
    first = {"name": "migrate", "image": "shop/migrate:1"}
    stage.apply(web(2, behaviour="init-crash", init_containers=[first]))


def rolled_back_without_a_log(stage: Stage) -> None:
    """The log of the container that crashes cannot be read."""
    stage.scene.serve(web())
    stage.is_away = lambda request: request.path.endswith("/log")
    stage.apply(web(2, behaviour="crash"))


def rolled_back_quota(stage: Stage) -> None:
    """A quota denies the new version's pods."""
    stage.scene.serve(web())
    stage.scene.objects.create("resourcequotas", quota({"pods": "2"}))
    stage.apply(web(2, progress_deadline_seconds=600))


def rolled_back_sibling(stage: Stage) -> None:
    """One of two Deployments crashes; both return."""
    stage.scene.serve(web(), web(name="worker"))
    stage.apply(web(2), web(2, name="worker", behaviour="crash"))


def rolled_back_check_failed(stage: Stage) -> None:
    """A health check measures too much."""
    stage.scene.serve(web())
    with stage.applying(web(2), flags=CHECKS) as running:
        running.wait_for_line(UNDER_WAY)
        stage.measurements["errors"] = 0.9


def rolled_back_object_not_ready(stage: Stage) -> None:
    """A load balancer never gets an address; the version itself runs."""
    stage.scene.serve(web())
    body = service()
    stage.apply({**body, "spec": {**body["spec"], "type": "LoadBalancer"}}, web(2), page=True)


def rolled_back_apply_rejected(stage: Stage) -> None:
    """The second object is rejected after the first was written."""
    stage.scene.serve(web(), settings())
    with stage.bed.policies.denying("services", "not today", IN_EARNEST):
        stage.apply(settings("two"), service(), web(2))


def rollback_failed(stage: Stage) -> None:
    """The old version cannot start any more."""
    recreate = {"type": "Recreate"}
    stage.scene.serve(web(strategy=recreate))
    bad = web(2, strategy=recreate, behaviour="crash")
    with stage.applying(bad, flags="--rollback-timeout 60") as running:
        running.wait_for_line("CrashLoop")
        stage.scene.objects.create("resourcequotas", quota({"pods": "0"}))


def rollback_failed_irreversible(stage: Stage) -> None:
    """The Deployment returns, an immutable ConfigMap cannot."""
    stage.scene.serve(web(), settings())
    bad = [immutable(settings("two")), web(2, behaviour="crash")]
    stage.apply(*bad, flags="--allow-irreversible")


def rollback_failed_reverted(stage: Stage) -> None:
    """Somebody applies the failed version over the rollback."""
    recreate = {"type": "Recreate"}
    stage.scene.serve(web(strategy=recreate, behaviour="ready=4"))
    bad = web(2, strategy=recreate, behaviour="crash")
    with stage.applying(bad) as running:
        running.wait_for_line("restored +deployment/web", END_SECONDS)
        patch = {"spec": {"template": bad["spec"]["template"]}}
        stage.scene.change_as("argocd-controller", patch)


def kept_quota(stage: Stage) -> None:
    """A quota denies the pods, and the rollback is off."""
    stage.scene.serve(web())
    stage.scene.objects.create("resourcequotas", quota({"pods": "2"}))
    stage.apply(web(2), flags="--on-failure keep")


def failed_first(stage: Stage) -> None:
    """The first version crashes: nothing to return to."""
    stage.apply(settings(), web(behaviour="crash"))


def failed_first_deleted(stage: Stage) -> None:
    """The first version crashes, and is deleted as was asked."""
    stage.apply(web(behaviour="crash"), flags="--on-first-failure delete")


def failed_first_scaled(stage: Stage) -> None:
    """The first version crashes, and is scaled to zero as was asked."""
    stage.apply(web(behaviour="crash"), flags="--on-first-failure scale-to-zero")


def failed_first_quota(stage: Stage) -> None:
    """A quota lets one of the first version's two pods in."""
    stage.scene.objects.create("resourcequotas", quota({"pods": "1"}))
    stage.apply(web())


def inconclusive(stage: Stage) -> None:
    """Prometheus does not answer."""
    stage.scene.serve(web())
    with stage.applying(web(2), flags=CHECKS) as running:
        running.wait_for_line(UNDER_WAY)
        stage.measurements["errors"] = NoAnswer.UNREACHABLE


def lost_contact(stage: Stage) -> None:
    """The API server goes away after the write."""
    stage.scene.serve(web())
    with stage.applying(web(2, behaviour="never-ready"), flags="--timeout 120") as running:
        running.wait_for_line(UNDER_WAY)
        stage.is_away = lambda _: True


def interrupted(stage: Stage) -> None:
    """The job is cancelled after the write."""
    stage.scene.serve(web())
    with stage.applying(web(2, behaviour="ready=30")) as running:
        running.wait_for_line("replicaset +deployment/web: following")
        running.send(signal.SIGTERM)


def interrupted_in_the_rollback(stage: Stage) -> None:
    """The job is cancelled while the old version returns."""
    recreate = {"type": "Recreate"}
    stage.scene.serve(web(strategy=recreate, behaviour="ready=20"))
    with stage.applying(web(2, strategy=recreate, behaviour="crash")) as running:
        running.wait_for_line("restored +deployment/web", END_SECONDS)
        running.send(signal.SIGTERM)
