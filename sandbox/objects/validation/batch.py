"""Jobs and CronJobs (`pkg/apis/batch/validation`), as far as nothing here runs them."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    IMMUTABLE,
    Found,
    check_at_least_zero,
    check_one_of,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.metadata import check_metadata, check_metadata_update
from sandbox.objects.validation.names import dns_subdomain
from sandbox.objects.validation.pod.spec import check_template

COUNTS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
COMPLETION_MODES = ("NonIndexed", "Indexed")
CONCURRENCY_POLICIES = ("Allow", "Forbid", "Replace")
SCHEDULE_FIELDS = 5
CRON_JOB_NAME_LENGTH = 52
FIXED_FIELDS = ("selector", "template", "completionMode", "podFailurePolicy", "successPolicy")


def check_job(found: Found, job: JSON) -> None:
    """A new Job."""
    check_metadata(found, job["metadata"], dns_subdomain)
    _check_job_spec(found, "spec", job["spec"])


def check_job_update(found: Found, old: JSON, new: JSON) -> None:
    """What a Job runs is fixed."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    _check_job_spec(found, "spec", new["spec"])
    for name in FIXED_FIELDS:
        if old["spec"].get(name) != new["spec"].get(name):
            found.append(invalid(f"spec.{name}", new["spec"].get(name), IMMUTABLE))


def _check_job_spec(found: Found, field: str, spec: JSON) -> None:
    for name in COUNTS:
        check_at_least_zero(found, f"{field}.{name}", spec.get(name, 0))
    mode = spec.get("completionMode", "NonIndexed")
    if mode not in COMPLETION_MODES:
        found.append(not_supported(f"{field}.completionMode", mode, COMPLETION_MODES))
    elif mode == "Indexed" and "completions" not in spec:
        found.append(make_required_error(f"{field}.completions", "when completion mode is Indexed"))
    check_template(found, f"{field}.template", spec["template"])
    at = f"{field}.template.spec.restartPolicy"
    policy = spec["template"]["spec"]["restartPolicy"]
    if policy == "Always":
        found.append(make_required_error(at, 'valid values: "OnFailure", "Never"'))
    elif policy not in {"OnFailure", "Never"}:
        found.append(not_supported(at, policy, ["OnFailure", "Never"]))


def check_cron_job(found: Found, cron_job: JSON) -> None:
    """A new CronJob: its Jobs get a suffix of 11 letters."""
    check_metadata(found, cron_job["metadata"], dns_subdomain)
    _check_cron_job_spec(found, cron_job["spec"])
    name = cron_job["metadata"].get("name", "")
    if len(name) > CRON_JOB_NAME_LENGTH:
        says = f"must be no more than {CRON_JOB_NAME_LENGTH} characters"
        found.append(invalid("metadata.name", name, says))


def check_cron_job_update(found: Found, old: JSON, new: JSON) -> None:
    """Everything of a CronJob's spec may change."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    _check_cron_job_spec(found, new["spec"])


def _check_cron_job_spec(found: Found, spec: JSON) -> None:
    _check_schedule(found, "spec.schedule", spec["schedule"])
    seconds = spec.get("startingDeadlineSeconds", 0)
    check_at_least_zero(found, "spec.startingDeadlineSeconds", seconds)
    policy = spec["concurrencyPolicy"]
    check_one_of(found, "spec.concurrencyPolicy", policy, CONCURRENCY_POLICIES)
    _check_job_spec(found, "spec.jobTemplate.spec", spec["jobTemplate"]["spec"])
    for name in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        check_at_least_zero(found, f"spec.{name}", spec[name])


def _check_schedule(found: Found, field: str, schedule: str) -> None:
    """A schedule has five fields or is a word like `@daily`; a time zone has its own field."""
    if not schedule:
        found.append(make_required_error(field))
        return
    zoned = schedule.startswith(("TZ=", "CRON_TZ="))
    fields = schedule.split()[zoned:]
    if len(fields) != SCHEDULE_FIELDS and not schedule.startswith("@"):
        says = f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
        found.append(invalid(field, schedule, says))
    if "TZ" in schedule:
        says = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        found.append(invalid(field, schedule, says))
