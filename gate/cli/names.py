"""`NAME` on the command line: `web`, `deployment/web` or, of another kind, `statefulset/db`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

from gate.core.model.objects import SUBDOMAIN

_KINDS: Final[Mapping[str, str]] = {
    "": "",
    "deployment": "",
    "deploy": "",
    "statefulset": "statefulset/",
    "sts": "statefulset/",
    "daemonset": "daemonset/",
    "ds": "daemonset/",
}
"""What each kind, as kubectl has it, is before a name inside: a name alone is a Deployment's."""


def workload_name(text: str) -> str:
    """Return how the gate names the workload that `text` means; BadParameter if it means none."""
    kind, slash, name = text.rpartition("/")
    if kind not in _KINDS or bool(kind) != bool(slash):
        raise click.BadParameter(
            f"{text} is not the name of a workload; use web, deployment/web, statefulset/db or"
            " daemonset/agent"
        )
    if not SUBDOMAIN.fullmatch(name):
        raise click.BadParameter(f"{text} cannot be the name of a workload")
    return f"{_KINDS[kind]}{name}"


def _one(ctx: click.Context, param: click.Parameter, value: str) -> str:  # noqa: ARG001 - click's
    return workload_name(value)


def _several(
    ctx: click.Context,  # noqa: ARG001 - click's signature
    param: click.Parameter,  # noqa: ARG001
    value: tuple[str, ...],
) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(workload_name, value)))


def name_argument() -> click.Argument:
    """Return the argument of commands about one workload."""
    return click.Argument(["name"], metavar="NAME", callback=_one)


def names_argument() -> click.Argument:
    """Return the argument of commands about several workloads, each taken once."""
    return click.Argument(["names"], metavar="[NAME]...", nargs=-1, callback=_several)
