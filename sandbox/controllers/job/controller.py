"""The Job controller: what wakes it, and what one sync does to pods and status.

Rules of `pkg/controller/job/job_controller.go`. A pod is counted in two steps: its uid is written
into the status, then its finalizer goes; a Job is finished once all are counted and gone.
"""

from __future__ import annotations

from functools import partial

from sandbox.api.api import Api, DeleteOptions, Patch, PatchType, Propagation
from sandbox.controllers.adoption import Claim
from sandbox.controllers.job.pods import TRACKING, is_tracked
from sandbox.controllers.job.sync import Backoff, JobSync, finished_at
from sandbox.controllers.ownership import FINISHED, JOBS, controller_of, key_of
from sandbox.controllers.pod_controller import Failure, PodController
from sandbox.controllers.pods import is_deleting
from sandbox.controllers.queue import Informer, WorkQueue
from sandbox.failure import forgiving_absence
from sandbox.json import JSON, dig
from sandbox.storage.store import Change, Key

BATCH_SECONDS = 1.0
"""How long the controller collects what happens to pods (`SyncJobBatchPeriod`)."""


class JobController(PodController):
    """Syncs each Job that changed, or whose pods did; deletes those whose time is over."""

    def __init__(self, api: Api, jobs: Informer, pods: Informer) -> None:
        super().__init__(api, JOBS, "job-controller", jobs, pods)
        self._backoffs: dict[Key, Backoff] = {}
        self._over: WorkQueue[Key] = WorkQueue(api.timers, self._delete_finished)

    def _wake(self, owner: Key) -> None:
        self._queue.add_after(owner, BATCH_SECONDS)

    def _on_owner(self, change: Change) -> None:
        job, before = change.after, change.before
        if job is None:
            super()._on_owner(change)
            self._backoffs.pop(change.key, None)
            for pod in self._pods.controlled_by(dig(before, "metadata", "uid") or ""):
                self._release(pod)
            return
        if finished_at(job) is not None:
            self._over.add(change.key)
            return
        if dig(before, "metadata", "generation") != job["metadata"].get("generation"):
            self._queue.add(change.key)
        else:
            self._wake(change.key)

    def _on_dependent(self, change: Change) -> None:
        """Let a pod go, too, whose Job is gone, or let go of it."""
        super()._on_dependent(change)
        pod = change.after
        if pod is not None and is_tracked(pod):
            reference = controller_of(pod)
            is_ours = reference is None or reference["kind"] == "Job"
            if is_ours and self._owner(change.key.namespace, reference) is None:
                self._release(pod)

    def _sync(self, key: Key) -> None:
        job = self._owners.get(key)
        if job is None or finished_at(job) is not None:
            return
        may_act = self._expectations.is_met(key)
        pods = Claim(self._api, JOBS, key, job).of(self._pods)
        backoff = self._backoffs.get(key, Backoff())
        sync = JobSync.of(job, pods, backoff, self._timers)
        if sync.finished is None and (left := sync.deadline_seconds()) is not None:
            self._queue.add_after(key, left)
        failure: Failure | None = None
        if sync.finished is not None:
            if sync.active:
                failure = self._change_pods(key, job, (), sync.active)
            sync.note_deleted(sync.active, is_done=failure is None and may_act)
        else:
            if may_act and not is_deleting(job):
                failure = self._manage(key, sync)
            sync.conclude(said=partial(self._recorder.normal, job))
        self._track(key, sync)
        if failure is not None:
            raise failure

    def _manage(self, key: Key, sync: JobSync) -> Failure | None:
        """Create what is missing, delete what is too many; put off what backs off."""
        old = sync.surplus()
        for pod in old:
            self._release(pod)
        if old:
            failure = self._change_pods(key, sync.job, (), old)
            sync.note_deleted(old, is_done=failure is None)
            return failure
        new = sync.missing()
        if not new:
            return None
        wait = sync.backoff.wait_seconds(self._timers)
        if wait > 0:
            self._queue.add_after(key, wait)
            return None
        failure = self._change_pods(key, sync.job, new, ())
        sync.created = len(new) if failure is None else 0
        return failure

    def _track(self, key: Key, sync: JobSync) -> None:
        """Write what is to be counted, let those pods go, and write what came of it."""
        ended = sync.count_ended()
        stored = sync.job
        if sync.is_changed:
            stored = self._write(key, stored, sync.status)
            self._backoffs[key] = sync.backoff
        for pod in ended:
            self._release(pod)
        is_finished = sync.count_released(ended)
        if sync.is_changed:
            stored = self._write(key, stored, sync.status)
        if is_finished:
            self._say_finished(stored)

    def _write(self, key: Key, job: JSON, status: JSON) -> JSON:
        return self._api.update(key, {**job, "status": status}, JOBS, subresource="status")

    def _say_finished(self, job: JSON) -> None:
        condition = job["status"]["conditions"][-1]
        if condition["type"] == "Complete":
            self._recorder.normal(job, "Completed", "Job completed")
        else:
            self._recorder.warning(job, condition["reason"], condition["message"])

    def _release(self, pod: JSON) -> None:
        """Take the finalizer from a pod that is counted, or that nobody counts."""
        if not is_tracked(pod):
            return
        left = [name for name in pod["metadata"]["finalizers"] if name != TRACKING]
        metadata = {"uid": pod["metadata"]["uid"], "finalizers": left or None}
        with forgiving_absence():
            patch = Patch(PatchType.MERGE, {"metadata": metadata})
            self._api.patch(key_of("pods", pod), patch, JOBS)

    def _delete_finished(self, key: Key) -> None:
        """Delete a Job `ttlSecondsAfterFinished` after its end, in the background."""
        job = self._api.store.get(key)
        seconds = (job or {"spec": {}})["spec"].get("ttlSecondsAfterFinished")
        ended = finished_at(job) if job is not None else None
        if job is None or seconds is None or ended is None:
            return
        left = self._timers.seconds_until(ended, seconds)
        if left > 0:
            self._over.add_after(key, left)
        elif not is_deleting(job):
            uid = job["metadata"]["uid"]
            options = DeleteOptions(propagation=Propagation.BACKGROUND, uid=uid)
            with forgiving_absence():
                self._api.delete(key, FINISHED, options)
