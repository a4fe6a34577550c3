"""What our own apply returned, and whether it is still in effect."""

from __future__ import annotations

import functools
from dataclasses import replace

from gate.core.frozen import dataclass
from gate.core.model.body import Body
from gate.core.model.objects import CleanText, Template, Workload
from gate.core.model.outcome import Reason
from gate.core.rollout.verdict import Verdict, VerdictKind
from gate.core.rollout.workload_kind import CURRENT, AnyKind
from gate.core.ssa import field_set


@dataclass(frozen=True, slots=True)
class Applied:
    """What our own apply returned, or what `verify` found.

    `owned` is the FieldsV1 tree under `spec.template` of the fields that make the version, in that
    answer, None if the managed fields are unknown. `at` is when it was written or, if `found`, when
    somebody else's version was found (monotonic seconds). `replicas` is how many pods it was to
    have, 0 of what runs once; where a way back left a 0 that somebody had scaled it to, how many
    before that. What has no such number of its own is to have what its controller counts first.
    """

    uid: str
    generation: int
    template: Template
    owned: Body | None
    at: float
    new_template: bool
    spec_changed: bool
    replicas: int
    found: bool = False

    @property
    def which_pods(self) -> str:
        """What its pods are called on the way out, as in `call_others`."""
        if not self.spec_changed:
            return ""
        return CURRENT if self.found else "new"

    @property
    def is_retried(self) -> bool:
        """Whether its controller tries again at once what it could not do before."""
        return self.spec_changed and not self.found

    def find_departure(self, live: Workload, *, has_ended: bool = False) -> Verdict | None:
        """Return a verdict if somebody else deleted or changed it; None while it is ours.

        What has ended counts as it did, also while it is being deleted.
        """
        if live.uid != self.uid:
            why = f"the {live.ref.kind} was deleted and created again"
            return Verdict.of_superseded(Reason.DELETED, why)
        if has_ended:
            return None
        if live.deleting:
            why = f"the {live.ref.kind} is being deleted"
            return Verdict.of_superseded(Reason.DELETED, why)
        if live.generation < self.generation or self.still_stands(live):
            return None
        images = ", ".join(live.template.images())
        why = f"somebody else changed the pod template: {images}"
        return Verdict.of_superseded(Reason.SUPERSEDED, why)

    def judge_empty(self, live: Workload) -> Verdict:
        """Return the verdict on what wants no pod and has none: complete if it was asked for."""
        if not self.is_emptied(live):
            return Verdict(VerdictKind.COMPLETE, Reason.VACUOUS, CleanText(live.when_empty))
        why = CleanText(live.describe_emptied(self.replicas))
        return Verdict(VerdictKind.EMPTIED, live.reason_if_emptied, why)

    def is_emptied(self, live: Workload) -> bool:
        """Tell whether no pod of it is wanted any more, though some were to be."""
        return self.replicas > 0 and not live.replicas

    def with_counted(self, live: Workload, kind: AnyKind) -> Applied:
        """Return it with the number that a controller has counted, where the spec says none."""
        if self.replicas or kind.default_replicas is not None:
            return self
        counted: int = kind.count_kept(live, live)
        return replace(self, replicas=counted) if counted else self

    def still_stands(self, live: Workload) -> bool:
        """Tell whether what our apply set in `spec.template` is still there.

        Additions by others do not count. If the managed fields are unknown, the whole template has
        to be ours.
        """
        if live.template.body == self.template.body:
            return True
        if self.owned is None:
            return False
        return _still_holds(self.template.body, self.owned, live.template.body)


@functools.lru_cache(maxsize=64)
def _still_holds(ours: Body, owned: Body, live: Body) -> bool:
    """Compare each template once: every verdict asks, and templates rarely change."""
    return field_set.still_holds(ours.thaw(), owned.thaw(), live.thaw())
