"""The options of rehearsals and of the sandbox: what goes wrong, where it listens, its speed."""

from __future__ import annotations

from typing import Annotated

from gate.config.kinds import Port, Speed, Text, Texts
from gate.config.option import NOT_IN_FILES, ONLY_FLAG, Group, Option
from gate.config.option_values import OptionValues
from gate.config.takers import PLAYED, REHEARSE, SANDBOX


class SandboxSettings(OptionValues):
    """Abstract: the part of the settings that is about a cluster in this process."""

    with_: Annotated[
        Texts,
        Option(
            Group.SANDBOX,
            REHEARSE,
            "what goes wrong, from second T of the rollout on",
            "KIND[@T]",
            places=NOT_IN_FILES,
        ),
    ] = ()
    all_: Annotated[
        bool,
        Option(Group.SANDBOX, REHEARSE, "rehearse every failure", places=NOT_IN_FILES),
    ] = False
    scenario: Annotated[
        Text,
        Option(
            Group.SANDBOX,
            PLAYED,
            "a file that says how pods behave and what else happens",
            "FILE",
            places=NOT_IN_FILES,
        ),
    ] = None
    port: Annotated[
        Port,
        Option(
            Group.SANDBOX,
            SANDBOX,
            "the port on loopback",
            default="any that is free",
            # For a Service named rollout-gate the kubelet sets ROLLOUT_GATE_PORT in every pod.
            places=ONLY_FLAG,
        ),
    ] = 0
    speed: Annotated[
        Speed,
        Option(
            Group.SANDBOX,
            SANDBOX,
            "how many times faster than real time the sandbox runs",
            default="1",
            places=NOT_IN_FILES,
        ),
    ] = 1.0
