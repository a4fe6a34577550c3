"""What a version is called, and which pods run which."""

from __future__ import annotations

from gate.report.schema.result import PodShare, RevisionResult, WorkloadResult
from gate.report.schema.version import Version


def version_words(version: Version) -> str:
    """Return a version in words: its revision and images, as far as they are known."""
    revision = version["revision"]
    was = f" (was revision {version['was_revision']})" if version["was_revision"] else ""
    known = [f"revision {revision}{was}"] if revision is not None else []
    return ", ".join([*known, *version["images"]]) or "an unknown version"


def judged_words(workload: WorkloadResult, of: str) -> str:
    """Call the version that was judged `of` one workload, or of several: new, or restored."""
    if not workload["new"]["restored"]:
        return f"the new version of {of}"
    return f"the version of {of} that was restored ({', '.join(workload['new']['images'])})"


def ready_words(ready: int, wanted: int) -> str:
    """Say how many pods of a version are ready; it may want fewer than it still has."""
    return f"{ready} of {wanted} ready" if ready <= wanted else f"{ready} ready, {wanted} wanted"


def is_last_verified(workload: WorkloadResult) -> bool:
    """Tell whether its baseline is the last other verified version, and did not serve before."""
    return workload["baseline"] is not None and not workload["baseline"]["served"]


def baseline_words(workload: WorkloadResult, served: str = "the version before") -> str:
    """Return what its baseline is called; `served` is the name of one that served before."""
    return "the last other verified version" if is_last_verified(workload) else served


def find_serving(workload: WorkloadResult) -> RevisionResult | None:
    """Return what alone serves at the end, None if that is the new version or the baseline.

    All of its pods are available, and no other version has an available pod.
    """
    last = workload["trees"][-1]["revisions"] if workload["trees"] else []
    available = [one for one in last if one["available"]]
    if len(available) != 1 or available[0]["available"] < available[0]["wanted"]:
        return None
    known = {one["name"] for one in (workload["new"], workload["baseline"]) if one is not None}
    return available[0] if available[0]["name"] not in known else None


def serving_words(serving: RevisionResult) -> str:
    """Say which version serves, with how many pods."""
    count = serving["available"]
    return f"{_of_share(serving)}, with {count} of {count} pods"


def pods_by_version(workload: WorkloadResult) -> str:
    """Say how many pods run which version, the newest first."""
    shares = [
        f"{share['pods']} {'pod runs' if share['pods'] == 1 else 'pods run'} {_of_share(share)}"
        for share in workload["pod_shares"]
    ]
    return ", ".join(shares) or "no pod runs"


def own_pods_as_seen(workload: WorkloadResult) -> str:
    """Say which pods run what while any is of this run's version or of the one before, else ""."""
    known = {one["name"] for one in (workload["new"], workload["baseline"]) if one is not None}
    if not any(share["name"] in known for share in workload["pod_shares"]):
        return ""
    return f"{pods_by_version(workload)}, as last seen"


def _of_share(share: PodShare | RevisionResult) -> str:
    known = [f"revision {share['revision']}"] if share["revision"] is not None else []
    return ", ".join([*known, *share["images"]]) or share["name"]
