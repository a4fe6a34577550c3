"""apps/v1 ControllerRevisions, which keep the versions of StatefulSets and DaemonSets."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.controller_revision import CONTROLLER_REVISION as KIND
from gate.kube.kinds.kind import WatchedKind
from gate.kube.kinds.resource import Resource

CONTROLLER_REVISIONS: Final = Resource("apps", "v1", "ControllerRevision", "controllerrevisions")
CONTROLLER_REVISION: Final = WatchedKind(KIND, CONTROLLER_REVISIONS)
