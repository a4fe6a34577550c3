"""The declaration of every option, once: its name, type, default, help, and who takes it.

Flags, environment variables, file keys, the JSON Schema and the reference are read from here.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Annotated, Final

from gate.config.check_settings import CheckSettings
from gate.config.choices import LogFormat, LogLevel, OutputFormat
from gate.config.fail_fast import DEFAULTS
from gate.config.kinds import (
    Budget,
    Days,
    FailFastChanges,
    Images,
    Limit,
    RbacSubject,
    Reports,
    Required,
    Revision,
    Silenced,
    Text,
    Texts,
    Tolerated,
    Window,
)
from gate.config.lock_settings import LockSettings
from gate.config.metrics_settings import MetricsSettings
from gate.config.option import NOT_IN_FILES, ONLY_FLAG, Group, Option, Setting
from gate.config.option_values import Declaration, declarations
from gate.config.parsing import AUTO
from gate.config.sandbox_settings import SandboxSettings
from gate.config.takers import (
    ALL,
    ANSWERING,
    CHANGING,
    CHECKS,
    CLAIMING,
    JUDGING,
    LOADING,
    LOCKING,
    MANIFEST,
    PLANNED,
    PREFLIGHT,
    REACTING,
    RECOVER,
    REPORT,
    RETREATING,
    STATUS,
    UNBLOCKING,
    UNDO,
    VERIFY,
    WRITING,
)
from gate.core.plan.replica_ownership import ReplicasPolicy
from gate.core.rollout.policy import (
    DEFAULT_OBJECT_WAIT_SECONDS,
    DEFAULT_PROGRESS_DEADLINE_SECONDS,
    BlockedPods,
    FailFast,
    OnDelete,
    OnFailure,
    OnFirstFailure,
    OnInterrupt,
    WaitFor,
)
from gate.rbac_subject import FORM
from gate.report.formats.format import Format

CONFIG_FILE: Final = "rollout-gate.yaml"
"""Read from the working directory if no other configuration is named."""


class Settings(MetricsSettings, LockSettings, CheckSettings, SandboxSettings):
    """The settings of one command, from whatever source; durations are in seconds.

    Options that the command does not take have their defaults.
    """

    file: Annotated[
        Texts,
        Option(
            Group.MANIFEST,
            LOADING,
            "the manifests: a file, a folder, or - for stdin",
            "PATH",
            short="-f",
        ),
    ] = ()
    image: Annotated[
        Images,
        Option(
            Group.MANIFEST,
            LOADING,
            "use this image for containers of that name; or WORKLOAD/CONTAINER=REF",
        ),
    ] = ()
    allow_kind: Annotated[
        Texts,
        Option(
            Group.MANIFEST, LOADING | RECOVER, "admit a kind beyond the usual workloads", "KIND"
        ),
    ] = ()
    silence: Annotated[
        Silenced, Option(Group.MANIFEST, LOADING, "do not print this warning; all: none of them")
    ] = frozenset()
    timeout: Annotated[
        Budget,
        Option(
            Group.VERDICT,
            JUDGING | RECOVER,
            "the budget of the rollout; auto is 15m, or more where the workload may take longer",
            default=AUTO,
        ),
    ] = None
    progress_deadline: Annotated[
        Limit,
        Option(
            Group.VERDICT,
            JUDGING,
            "how long nothing may move where the workload has no deadline of its own",
            default="10m",
        ),
    ] = DEFAULT_PROGRESS_DEADLINE_SECONDS
    bake: Annotated[
        Window,
        Option(
            Group.VERDICT,
            JUDGING | CHECKS,
            "how long to keep judging after completion; auto is as long as required checks need",
            default=AUTO,
        ),
    ] = None
    bake_early: Annotated[
        bool,
        Option(
            Group.VERDICT,
            JUDGING,
            "end the bake window once every required check has all the evidence that it needs",
        ),
    ] = False
    fail_fast: Annotated[
        FailFastChanges,
        Option(
            Group.VERDICT,
            JUDGING,
            "how long, or how often, this kind of failure is tolerated; or off",
            default=DEFAULTS,
        ),
    ] = FailFast()
    tolerate: Annotated[
        Tolerated, Option(Group.VERDICT, JUDGING, "how many new pods may fail", default="0")
    ] = None
    require: Annotated[
        Required,
        Option(
            Group.VERDICT,
            JUDGING,
            "how many new pods are enough, or min-available; a rollback needs all old ones",
            default="100%",
        ),
    ] = None
    require_pods: Annotated[
        bool, Option(Group.VERDICT, PLANNED, "refuse a workload with 0 replicas")
    ] = False
    wait_for_termination: Annotated[
        bool, Option(Group.VERDICT, JUDGING, "wait until the old pods are gone")
    ] = False
    require_all_nodes: Annotated[
        bool,
        Option(Group.VERDICT, JUDGING, "wait for a DaemonSet's nodes that are not Ready, too"),
    ] = False
    on_delete: Annotated[
        OnDelete,
        Option(
            Group.VERDICT,
            JUDGING,
            "what to do with the strategy OnDelete: wait until somebody has replaced the pods, or"
            " report that nothing rolls",
        ),
    ] = OnDelete.REPORT
    wait_for: Annotated[
        WaitFor,
        Option(
            Group.VERDICT,
            MANIFEST,
            "what has to be ready: all objects of the manifest, or its workloads alone",
        ),
    ] = WaitFor.ALL
    wait_for_timeout: Annotated[
        Limit,
        Option(
            Group.VERDICT,
            MANIFEST,
            "how long objects that are no workloads may take, within --timeout",
            default="5m",
        ),
    ] = DEFAULT_OBJECT_WAIT_SECONDS
    expect_image: Annotated[
        Texts, Option(Group.VERDICT, VERIFY, "fail unless this image runs", "REF")
    ] = ()
    selector: Annotated[
        Text,
        Option(
            Group.VERDICT,
            VERIFY,
            "verify the workloads with these labels, Jobs aside",
            "LABELS",
            short="-l",
        ),
    ] = None
    on_failure: Annotated[
        OnFailure, Option(Group.FAILURE, REACTING, "what to do when the rollout fails")
    ] = OnFailure.ROLLBACK
    on_first_failure: Annotated[
        OnFirstFailure,
        Option(
            Group.FAILURE,
            CHANGING,
            "what to do when the first version of a workload fails: nothing is there to return to;"
            " only what this run created is deleted",
        ),
    ] = OnFirstFailure.KEEP
    on_interrupt: Annotated[
        OnInterrupt,
        Option(
            Group.FAILURE,
            REACTING,
            "what to do on a signal; auto rolls back if anything of the new version has failed by"
            " then; a pod that is only not ready yet has not failed. A second signal ends the run"
            " at once, whatever this says",
        ),
    ] = OnInterrupt.AUTO
    replace_blocked_pods: Annotated[
        BlockedPods,
        Option(
            Group.FAILURE,
            UNBLOCKING,
            "what to do to the unready pod at which a StatefulSet stops, and, one by one, to pods"
            " of the failed version that a restored OnDelete or partition would leave",
        ),
    ] = BlockedPods.EVICT
    rollback_timeout: Annotated[
        Budget,
        Option(
            Group.FAILURE,
            REACTING | RECOVER,
            "the budget of the rollback; it alone ends one, and no progress deadline does",
            default="as --timeout",
        ),
    ] = None
    rollback_max_age_days: Annotated[
        Days,
        Option(
            Group.FAILURE,
            RETREATING,
            "never return to an older version; a failed one then stays",
            default="any age",
        ),
    ] = None
    prune_created: Annotated[
        bool,
        Option(Group.FAILURE, PLANNED, "let a rollback delete the objects that the run created"),
    ] = False
    observe: Annotated[
        bool,
        Option(
            Group.FAILURE,
            CHANGING,
            "apply, leave even a failed version in place, report what would have been done, exit 0",
        ),
    ] = False
    to_revision: Annotated[
        Revision,
        Option(Group.FAILURE, UNDO, "return to this revision instead of the version before"),
    ] = None
    deployment_only: Annotated[
        bool,
        Option(
            Group.FAILURE,
            UNDO,
            "return only the pod template, not its configuration",
        ),
    ] = False
    allow_managed: Annotated[
        bool, Option(Group.OWNERSHIP, WRITING, "continue even if Helm, Argo CD or Flux manages it")
    ] = False
    take_over: Annotated[
        Texts,
        Option(Group.OWNERSHIP, CLAIMING, "take over what this field manager owns", "MANAGER"),
    ] = ()
    force_conflicts: Annotated[
        bool, Option(Group.OWNERSHIP, CLAIMING, "overwrite fields that others own")
    ] = False
    allow_irreversible: Annotated[
        bool, Option(Group.OWNERSHIP, RETREATING, "continue even if a failure could not be undone")
    ] = False
    replicas: Annotated[
        ReplicasPolicy,
        Option(Group.OWNERSHIP, PLANNED, "whose replica count wins if somebody scaled it by hand"),
    ] = ReplicasPolicy.REFUSE
    resume: Annotated[
        bool, Option(Group.OWNERSHIP, MANIFEST, "resume a paused Deployment or a suspended Job")
    ] = False
    dry_run: Annotated[bool, Option(Group.OWNERSHIP, CLAIMING, "stop before the first write")] = (
        False
    )
    rbac: Annotated[
        bool,
        Option(
            Group.OUTPUT,
            PREFLIGHT | VERIFY,
            "print the Role that this command needs, and exit",
            # A variable left set would make every `verify` end well.
            places=ONLY_FLAG,
        ),
    ] = False
    rbac_subject: Annotated[
        RbacSubject,
        Option(
            Group.OUTPUT,
            PREFLIGHT | VERIFY,
            f"the subject that --rbac binds the Role to: {FORM}",
            default="who asks",
        ),
    ] = None
    watch: Annotated[
        bool, Option(Group.OUTPUT, STATUS, "follow the rollout to its end", short="-w")
    ] = False
    output: Annotated[
        OutputFormat, Option(Group.OUTPUT, ANSWERING, "the format of stdout", short="-o")
    ] = OutputFormat.TEXT
    report: Annotated[
        Reports, Option(Group.OUTPUT, LOCKING | REPORT, "also write the result to a file")
    ] = ()
    format_: Annotated[
        Format,
        Option(Group.OUTPUT, REPORT, "the format of the report on stdout", places=NOT_IN_FILES),
    ] = Format.TEXT
    record: Annotated[
        Text, Option(Group.OUTPUT, MANIFEST, "record the rollout for replay", "FILE")
    ] = None
    log_format: Annotated[LogFormat, Option(Group.OUTPUT, ALL, "the format of stderr")] = (
        LogFormat.CONSOLE
    )
    log_level: Annotated[
        LogLevel, Option(Group.OUTPUT, ALL, "the lowest level shown on stderr")
    ] = LogLevel.INFO
    quiet: Annotated[bool, Option(Group.OUTPUT, ALL, "show only errors on stderr", short="-q")] = (
        False
    )
    plain: Annotated[bool, Option(Group.OUTPUT, ALL, "print plain lines, even on a terminal")] = (
        False
    )
    config: Annotated[
        Texts,
        Option(
            Group.OUTPUT,
            ALL,
            "read options from this file; later ones win",
            "FILE",
            default=CONFIG_FILE,
            places=NOT_IN_FILES,
        ),
    ] = ()


@functools.cache
def collect_settings() -> Mapping[str, Setting]:
    """Return every option by its name, in the order of declaration."""
    return {name: _setting(item) for name, item in declarations(Settings).items()}


def taken_by(command: str) -> tuple[Setting, ...]:
    """Return the options of a command, in the order of declaration."""
    return tuple(item for item in collect_settings().values() if command in item.option.commands)


def _setting(item: Declaration) -> Setting:
    metavar = item.option.metavar or item.form.metavar
    return Setting(item.name, item.option, metavar, item.form.repeated, item.default)
