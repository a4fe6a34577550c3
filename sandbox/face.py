"""What others use of the sandbox: the cluster, what is asked of it, and scenarios.

`Cluster` is a cluster in virtual time: its `timers` are moved on by whoever owns the clock, its
`handle` answers one HTTP request, its `api` is the same without HTTP. A `Play` plays a `Scenario`
in it. Whoever asks for what cannot be done gets a `SandboxError`; what a server refuses is an
`ApiError`. To serve it on a socket there is `sandbox.server`, which takes heavy libraries.
"""

from __future__ import annotations

from sandbox.api.api import Api
from sandbox.api.registry import Admission, Admit, Operation, Patch, PatchType, Writer
from sandbox.cluster import Cluster, ClusterOptions
from sandbox.failure import ApiError, SandboxError
from sandbox.json import JSON, copy_json, dig
from sandbox.kinds import BY_KIND
from sandbox.kubelet import behaviour
from sandbox.kubelet.container import Pace
from sandbox.kubelet.nodes import NodeState
from sandbox.scenario import actions
from sandbox.scenario.cast import Cast
from sandbox.scenario.document import Report
from sandbox.scenario.images import ImageRule, Images, Series
from sandbox.scenario.play import Happening, Play
from sandbox.scenario.scenario import Event, Measurement, NoAnswer, Scenario
from sandbox.scenario.scenario import load as load_scenario
from sandbox.scenario.scenario import parse as parse_scenario
from sandbox.serving.handle import AuditEntry
from sandbox.serving.request import JSON_TYPE, Answer, Request, Stream
from sandbox.storage.store import Change, Key
from sandbox.times import NAME_LETTERS, Names, Timers

__all__ = [
    "BY_KIND",
    "JSON",
    "JSON_TYPE",
    "NAME_LETTERS",
    "Admission",
    "Admit",
    "Answer",
    "Api",
    "ApiError",
    "AuditEntry",
    "Cast",
    "Change",
    "Cluster",
    "ClusterOptions",
    "Event",
    "Happening",
    "ImageRule",
    "Images",
    "Key",
    "Measurement",
    "Names",
    "NoAnswer",
    "NodeState",
    "Operation",
    "Pace",
    "Patch",
    "PatchType",
    "Play",
    "Report",
    "Request",
    "SandboxError",
    "Scenario",
    "Series",
    "Stream",
    "Timers",
    "Writer",
    "actions",
    "behaviour",
    "copy_json",
    "dig",
    "load_scenario",
    "parse_scenario",
]
