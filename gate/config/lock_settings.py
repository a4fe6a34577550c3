"""The options of locks: whether to take one, how long to wait for it, which to give back."""

from __future__ import annotations

from typing import Annotated

from gate.config.kinds import Duration, LockName
from gate.config.option import NOT_IN_FILES, ONLY_FLAG, Group, Option
from gate.config.option_values import OptionValues
from gate.config.takers import FOLLOWING, LOCKING, LOCKS, RECOVER, RETREATING, VERIFY


class LockSettings(OptionValues):
    """Abstract: the part of the settings that is about locks."""

    lock: Annotated[
        bool,
        Option(
            Group.LOCK,
            FOLLOWING,
            "take a lock, and keep a record for recover",
            # `verify` only looks, often with read-only rights.
            off_in=VERIFY,
        ),
    ] = True
    lock_wait: Annotated[
        Duration,
        Option(
            Group.LOCK,
            LOCKING,
            "how long to wait while somebody else holds the lock",
            default="10m",
        ),
    ] = 600.0
    require_lock: Annotated[
        bool, Option(Group.LOCK, FOLLOWING, "refuse to run without the permissions for the lock")
    ] = False
    keep_verified_secrets: Annotated[
        bool,
        Option(
            Group.LOCK,
            RETREATING | RECOVER,
            "keep verified Secrets and environment values in a Secret, for later returns",
        ),
    ] = False
    all_namespaces: Annotated[
        bool,
        Option(
            Group.LOCK,
            LOCKS | RECOVER,
            "all namespaces instead of one",
            short="-A",
            places=ONLY_FLAG,
        ),
    ] = False
    release: Annotated[
        LockName, Option(Group.LOCK, LOCKS, "release this lock", places=NOT_IN_FILES)
    ] = None
    yes: Annotated[
        bool, Option(Group.LOCK, LOCKS, "do not ask before releasing a lock", places=NOT_IN_FILES)
    ] = False
