"""`NAME` on the command line: `web`, `deployment/web`, or with another kind, as in `sts/db`."""

from __future__ import annotations

from typing import Final

import click

from gate.core.model.objects import SUBDOMAIN

EXPLANATION: Final = (
    "NAME is the name of a Deployment, or a kind and a name, as in sts/db or deployment.apps/web."
    " The kinds are deployment (deploy), statefulset (sts), daemonset (ds) and job."
)
"""What a help and an error say; a test holds it against the registry, which loads slowly."""


class WorkloadArgument(click.Argument):
    """An argument that takes names of workloads; a command's help explains them."""


def workload_name(text: str) -> str:
    """Return the workload that `text` means; BadParameter if it means none.

    A Deployment is its name alone, another one has its kind before it, as in `statefulset/db`;
    kinds are taken in all forms that kubectl takes and prints.
    """
    from gate.kube.kinds import registry

    kind, name = registry.parse_name(text)
    if kind is None:
        guess = registry.guess_name(text)
        raise click.BadParameter(f"{text} names no workload that is judged{guess}. {EXPLANATION}")
    if not SUBDOMAIN.fullmatch(name):
        raise click.BadParameter(f"{text} cannot be the name of a {kind.watched.kind}")
    return name if kind is registry.DEFAULT else f"{kind.words[0]}/{name}"


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
    return WorkloadArgument(["name"], metavar="NAME", callback=_one)


def names_argument() -> click.Argument:
    """Return the argument of commands about several workloads, each taken once."""
    return WorkloadArgument(["names"], metavar="[NAME]...", nargs=-1, callback=_several)
