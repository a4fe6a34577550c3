"""The faults that the gate is shown to survive: what happens, and what has to come of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A fault by its number; tests name it with `@pytest.mark.fault(number)`."""

    number: int
    fault: str
    expected: str


_TOLD = (
    ("the API server is down at the start", "3 within the connect budget, no write"),
    ("the API server is away for 30 s after the apply", "the right verdict"),
    ("the API server never returns after the apply", "9 in time, no rollback is claimed"),
    ("a watch is half open: no FIN", "the read finds the verdict"),
    ("every watch is cut after a second", "the right verdict, requests bounded"),
    ("410 on resume, as status and as ERROR event", "a new list, the right verdict"),
    ("a resourceVersion from the future: a silent watch", "the read finds the verdict"),
    ("lines doubled, reordered, split, of 1 MiB, malformed; bookmarks", "the right verdict"),
    ("429 with Retry-After and without", "waits with jitter, the right verdict"),
    ("500, 502, 503, 504 with HTML bodies", "bounded repetition, the right verdict"),
    ("a write is done, its answer lost", "read back, one revision"),
    ("a write arrives 20 s late, after it was sent again", "no second revision"),
    ("409 of the resourceVersion, 20 in a row", "read again, decided again, the right verdict"),
    ("killed after the apply", "`recover`, and a second `apply`, converge"),
    ("killed after the rollback was written", "`recover`, and a second `apply`, converge"),
    ("killed between two documents", "`recover`, and a second `apply`, converge"),
    ("SIGINT, SIGTERM in every phase", "at most one write of each object, the end in 5 s"),
    ("a stale API server answers reads", "no verdict on an older generation"),
    ("from A to B and back to A, unseen", "8, or a verdict on what is live"),
    ("deleted and created again, unseen", "8 `Deleted`"),
    ("the controller manager is stopped", "5, cause `ControllerNotObserving`"),
    ("the controller manager is restarted in mid-flight", "the right verdict"),
    ("clocks differ by 10 minutes", "the same verdict"),
    ("a stale deadline condition, at the start and after the way back", "no false failure; 4"),
    ("the rollback's target cannot create pods", "5 in the rollback's budget"),
    ("a ReplicaSet cannot be created", "4, cause `ReplicaSetCreateError`"),
    ("pods cannot be created: quota, policy", "4, cause `PodCreateDenied`"),
    ("an admission webhook takes 25 s", "no second write"),
    ("a mutating webhook adds a sidecar", "not taken for somebody else's change"),
    ("never ready, no image, crash, no memory, init crash, flapping", "4 with the right reason"),
    ("old pods flap while the new never get ready", "4, though the condition never comes"),
    ("ready, then crashing in the bake window", "4"),
    ("autoscaler, scale, pause, resume, edit in mid-flight", "as the contract says for each"),
    ("two gates on one Deployment", "one works, the other waits or is refused"),
    ("the lock's holder was killed", "taken over after its expiry"),
    ("401 in mid-flight; the credential plugin fails or hangs", "fresh credentials once, else 9"),
    ("403 on the rollback alone", "3 at preflight; later 5 with the missing rule"),
    ("the namespace is being deleted", "3"),
    ("`revisionHistoryLimit: 0`", "the recorded template comes back"),
    ("two templates have one hash", "the right verdict"),
    ("Prometheus: empty, NaN, Inf, 422, 503, hang, redirect, 1 GiB", "as told for health checks"),
    ("a conflict with another field manager", "3 with fields and managers, no write"),
    ("the bad template comes back after the rollback", "5 `GitOpsReverted`, it stops"),
    ("stdout closed, disk full, read-only folder, no HOME", "verdict and code unaffected"),
    ("500 documents, 2,000 pods", "the right verdict, memory and requests bounded"),
    ("a random walk of single operations", "every invariant holds"),
)

ROWS = tuple(Row(number, *columns) for number, columns in enumerate(_TOLD, start=1))
