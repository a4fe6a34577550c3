"""How many pods of what came back were available before the run, where no fewer are again."""

from __future__ import annotations

from gate.core.rollout.snapshot import Snapshot


def describe_pods_before(found: Snapshot, now: Snapshot) -> str:
    """Say that no more of its pods were available as it was `found` than are `now`, else "".

    Which of them was not is no excuse for one that is not now: nobody knows if it is for the same
    reason.
    """
    before, after = found.current(), now.current()
    if found.live is None or before is None or after is None:
        return ""
    old, all_old = found.count_pods(before).available, found.live.replicas
    pods = sum(now.count_pods(one).created for one in now.list_owned() if one is not after)
    is_same = before.name == after.name and not pods and now.count_pods(after).available >= old
    if not is_same or old >= all_old:
        return ""
    return f"; before this run {old} of {all_old} were, so that no fewer serve than then"
