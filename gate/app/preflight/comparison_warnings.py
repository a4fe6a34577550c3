"""Warnings of comparisons for which a rollout leaves no old pods: known before anything is written.

How long both versions serve side by side in a rolling update is not known before; a rehearsal
plays it. Without `minReadySeconds` nothing holds it back: of that a comparison by counts is warned.
"""

from __future__ import annotations

from collections.abc import Collection

from gate.app.preflight.check_subjects import ref_of
from gate.app.preflight.server_dry_run import Prepared
from gate.app.preflight.trials import Trials
from gate.app.runtime.console import Warn
from gate.config import Settings
from gate.config.limits import all_checks
from gate.core.checks.baseline_comparison import Ratio
from gate.core.checks.query_template import strip_text
from gate.core.checks.spec import Check, Counts, During, Metric
from gate.core.kinds.check_variables import is_measured
from gate.core.kinds.registry import kind_of
from gate.core.model.objects import Ref, Workload
from gate.core.statistics.count_decision import LEAST_TICKS
from gate.duration import format_seconds


def warn_of_comparisons(
    settings: Settings, items: Collection[Prepared], trials: Trials, warn: Warn
) -> None:
    """Warn of each comparison that this apply leaves without pods of the old version.

    Call it with checks of which each is about one workload or none (`require_askable`).
    """
    measured = [item.ref for item in items if item.is_workload and is_measured(item.ref)]
    rolling = _find_rolling(items, trials)
    for check in all_checks(settings):
        ref = ref_of(check, measured)
        live = rolling.get(ref) if check.compares and ref is not None else None
        if live is None or ref is None:
            continue
        compares = f"check {check.name} compares with the old version, and {ref}"
        if why := _why_alone(check, live):
            warn(f"{compares} {why}: {_end(check)}")
        elif _may_be_too_short(check, live):
            every = format_seconds(check.schedule.interval_seconds)
            warn(
                f"{compares} may replace all pods within seconds, as it has no minReadySeconds: a"
                f" comparison needs at least {LEAST_TICKS} looks at both, one every {every}"
            )


def _find_rolling(items: Collection[Prepared], trials: Trials) -> dict[Ref, Workload]:
    """Return the workloads that get a new version in place of another, as they will be."""
    found: dict[Ref, Workload] = {}
    for item in items:
        before = item.live.workload if item.live is not None else None
        trial = trials.get(item.ref)
        after = trial.workload if trial is not None else None
        if before is None or after is None or before.template.body == after.template.body:
            continue
        found[item.ref] = after
    return found


def _why_alone(check: Check, live: Workload) -> str:
    """Say why no old pod serves while the check looks, "" if some may."""
    if not live.overlaps_versions:
        return "stops it before the new one serves"
    if check.schedule.during is During.BAKE and live.updates_all_pods:
        return "keeps none of its pods for the bake window"
    return ""


def _may_be_too_short(check: Check, live: Workload) -> bool:
    """Tell whether nothing in the strategy makes both versions serve for as long as it needs."""
    is_by_counts = isinstance(check.probe, Counts)
    return is_by_counts and live.updates_all_pods and not kind_of(live.ref).step_seconds(live)


def _end(check: Check) -> str:
    match check.probe:
        case Counts(rule=rule) if rule.negligible:
            return (
                "it passes if the new version's bad events prove negligible, and is inconclusive"
                " otherwise"
            )
        case Metric(query=query, compare=Ratio()) if "[" in strip_text(query.text):
            return "it is inconclusive as soon as the query sees nothing of the old pods any more"
        case _:
            return "it will be inconclusive"
