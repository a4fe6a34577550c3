"""What kinds answer alike whose workloads run until somebody deletes them: all but the Job."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, Final, Generic, TypeVar

from gate.core.model.objects import Condition, Pod, Revision, Workload
from gate.core.rollout.policy import FailFast, Policy
from gate.core.rollout.workload_kind import BlockingPod, LastWords, View

UNOBSERVED: Final = "the controller has not seen our change"
ENOUGH_DOOMED_PODS: Final = 2
"""One bad node does not make a bad version: a single doomed pod of many waits for the clocks."""

R = TypeVar("R", bound=Revision)
W = TypeVar("W", bound=Workload)


class LastingKind(Generic[W, R]):
    """The answers of a kind whose controller never ends a workload, and never gives one up."""

    __slots__ = ()

    has_way_back: ClassVar[bool] = True

    def own_revisions(self, live: W, owned: tuple[R, ...]) -> tuple[R, ...]:
        """Return the objects that keep its templates."""
        return owned

    def place_of_pod(self, pod: Pod) -> str:
        """Return "": any pod may replace any other."""
        return ""

    def has_ended(self, live: W) -> bool:
        """Return False: it runs until somebody deletes it."""
        return False

    def falls_short(self, live: W) -> bool:
        """Return False: its status does not say."""
        return False

    def failure(self, live: W) -> str:
        """Return "": its controller never gives up."""
        return ""

    def count_kept(self, before: W, live: W) -> int:
        """Return the replicas of before."""
        return before.replicas

    def is_stopping(self, live: W) -> bool:
        """Return False: none ever fails for good."""
        return False

    def fail_fast(self, limits: FailFast) -> FailFast:
        """Return all of them."""
        return limits

    def last_words(self, view: View[R], live: W) -> LastWords | None:
        """Return None: it fails by its pods."""
        return None

    def find_left_pods(self, view: View[R], live: W) -> tuple[BlockingPod, ...]:
        """Return nothing: its controller replaces all of them."""
        return ()

    def is_evidence(self, view: View[R], pod: Pod) -> bool:
        """Tell that each pod counts: the scheduler chose its node."""
        return True

    def may_fail_fast(self, view: View[R], doomed: Collection[Pod], count: int) -> bool:
        """Tell whether two pods, or all that exist, cannot recover.

        Where they are updated in order one pod exists until it is available: that one is all.
        """
        return len(doomed) >= ENOUGH_DOOMED_PODS or len(doomed) == count


class UntimedKind(LastingKind[W, R]):
    """A lasting kind without progress deadline or pause: its controller writes no condition."""

    __slots__ = ()

    pods_show_progress: ClassVar[bool] = True
    pause_field: ClassVar[str] = ""
    pause_word: ClassVar[str] = ""

    def deadline_seconds(self, live: W, policy: Policy) -> float:
        """Return the policy's progress deadline (`--progress-deadline`)."""
        return policy.budgets.progress_deadline_seconds

    def exceeded_deadline(self, live: W) -> Condition | None:
        """Return None: its controller has no clock."""
        return None
