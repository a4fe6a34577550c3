"""`NAME` on the command line: `web`, `deployment/web` or `deploy/web`."""

from __future__ import annotations

from typing import Final

import click

from gate.core.model.objects import SUBDOMAIN

_KINDS: Final = ("deployment", "deploy")


def deployment_name(text: str) -> str:
    """Return the name of the Deployment that `text` means; BadParameter where it means none."""
    kind, slash, name = text.rpartition("/")
    if slash and kind not in _KINDS:
        raise click.BadParameter(
            f"{text} is not a Deployment name; use web, deployment/web or deploy/web"
        )
    if not SUBDOMAIN.fullmatch(name):
        raise click.BadParameter(f"{text} cannot be the name of a Deployment")
    return name


def _one(ctx: click.Context, param: click.Parameter, value: str) -> str:  # noqa: ARG001 - click's
    return deployment_name(value)


def _several(
    ctx: click.Context,  # noqa: ARG001 - click's signature
    param: click.Parameter,  # noqa: ARG001
    value: tuple[str, ...],
) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(deployment_name, value)))


def name_argument() -> click.Argument:
    """Return the argument of commands about one Deployment."""
    return click.Argument(["name"], metavar="NAME", callback=_one)


def names_argument() -> click.Argument:
    """Return the argument of commands about several Deployments, each taken once."""
    return click.Argument(["names"], metavar="[NAME]...", nargs=-1, callback=_several)
