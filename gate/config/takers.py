"""Which commands take an option, by what they do."""

from __future__ import annotations

from typing import Final

MANIFEST: Final = frozenset({"apply", "preflight"})
UNDO: Final = frozenset({"undo"})
VERIFY: Final = frozenset({"verify"})
STATUS: Final = frozenset({"status"})
PREFLIGHT: Final = frozenset({"preflight"})
REPLAY: Final = frozenset({"replay", "backtest"})
REHEARSE: Final = frozenset({"rehearse"})
SANDBOX: Final = frozenset({"sandbox"})
REPORT: Final = frozenset({"report"})
CHECKS: Final = frozenset({"checks"})
RECOVER: Final = frozenset({"recover"})
LOCKS: Final = frozenset({"locks"})
PLANNED: Final = MANIFEST | REHEARSE
LOADING: Final = PLANNED | CHECKS
RETREATING: Final = MANIFEST | {"undo", "resume", "restart"}
REACTING: Final = RETREATING | REPLAY | REHEARSE
UNBLOCKING: Final = RETREATING | REHEARSE
"""The commands that write, and so may replace a pod that is in the way."""
CHANGING: Final = PLANNED | REPLAY
CLAIMING: Final = MANIFEST | UNDO
FOLLOWING: Final = RETREATING | VERIFY
JUDGING: Final = FOLLOWING | REPLAY | REHEARSE
WRITING: Final = RETREATING | {"pause"}
CLUSTER_CHANGING: Final = (WRITING | RECOVER) - PREFLIGHT
"""The commands that may write more than a lock to a cluster."""
GUARDED: Final = WRITING | VERIFY
LOCKING: Final = FOLLOWING | RECOVER
CONNECTING: Final = GUARDED | STATUS | CHECKS | RECOVER | LOCKS | {"history"}
GATING: Final = MANIFEST | VERIFY
MEASURING: Final = GATING | CHECKS | REHEARSE
CHECKED: Final = GATING | REPLAY | REHEARSE
ASKING: Final = CHECKED | CHECKS
COUNTING: Final = CHECKS | REHEARSE
PLAYED: Final = REHEARSE | SANDBOX
ANSWERING: Final = CONNECTING | REPLAY | REHEARSE
ALL: Final = ANSWERING | SANDBOX | REPORT | {"demo"}
