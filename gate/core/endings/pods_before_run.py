"""How many pods were available before the run, where a way back has as many again."""

from __future__ import annotations

from gate.core.rollout.snapshot import Snapshot


def describe_pods_before(found: Snapshot, now: Snapshot) -> str:
    """Say that no more pods were available when it was `found` than are `now`; else "".

    It excuses no pod that is unavailable now: nobody knows whether the reason is the same.
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
