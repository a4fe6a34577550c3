"""Which cluster this is and what we may do: the first questions to it; each can refuse the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Final

from gate.app.command_context import CommandContext
from gate.app.preflight.guards import refuse_protected
from gate.app.runtime.session import Session
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.outcome import Reason
from gate.errors import RefusedError
from gate.kube.paths.resources import LEASES, SECRETS
from gate.kube.reads.cluster import Cluster
from gate.kube.rights.access import Access, Permission
from gate.kube.rights.role import additional_role_yaml, role_yaml
from gate.rbac_subject import STAND_IN, subject_of
from gate.wire.untrusted import clean_line

_MOST_OF_A_NAME: Final = 200


def announce(
    context: CommandContext,
    namespaces: Collection[str] | None = None,
    *,
    everywhere: bool = False,
) -> None:
    """Announce the run's cluster and namespaces first, before anything can go wrong there.

    `namespaces` are those of a manifest's objects; None means the context's one, or all of them if
    `everywhere`.
    """
    session, console = context.session, context.console
    connection = session.connection
    where = {"server": connection.server, "context": connection.context}
    console.about({**where, "kubeconfig": connection.kubeconfig})
    named_context = f", context {connection.context}" if connection.context else ""
    named = sorted([session.namespace] if namespaces is None else namespaces)
    places = f", namespace{'s' if len(named) > 1 else ''} {', '.join(named)}" if named else ""
    places = ", all namespaces" if everywhere else places
    console.note("cluster", f"{connection.server}{named_context}{places}, user {connection.user}")
    if connection.insecure:
        console.warn(
            "the server is not verified: it may be an impostor, and others may read the token"
        )


def check_cluster(
    context: CommandContext, namespaces: Iterable[str], made_here: Collection[str] | None = None
) -> None:
    """Refuse the wrong cluster, and namespaces that are protected, missing or terminating.

    `made_here` are the namespaces that the manifest itself creates, None without a manifest.
    """
    names = sorted({*namespaces, *(made_here or ())} - {""})
    refuse_protected(names, context.settings.protected_namespace)
    cluster = Cluster(context.session.client)
    uid = cluster.uid()
    if isinstance(uid, Known):
        context.console.about({"cluster_uid": uid.value})
    _check_uid(uid, context.settings.expect_cluster_uid or "")
    connected = context.session.connection.cluster
    for name in names:
        terminating = cluster.terminating(name)
        if made_here is None:
            _require_known(terminating, name)
        elif name not in made_here:
            making = connected.command("kubectl", "create", "namespace", name)
            _require_known(terminating, name, f"is the context right? otherwise: {making}")
        _refuse_terminating(terminating, name)


def _check_uid(uid: Fact[str], expected: str) -> None:
    if not expected or uid == Known(expected):
        return
    found = uid.value if isinstance(uid, Known) else "not readable"
    raise RefusedError(
        f"this is not the expected cluster: it has the uid {found}, expected {expected}",
        reason=Reason.PROTECTED,
        hint="the uid is that of the namespace kube-system; is the context right?",
    )


def require_namespace(session: Session, name: str) -> None:
    """Refuse a namespace that certainly does not exist: finding nothing in it would say little."""
    _require_known(Cluster(session.client).terminating(name), name)


def _require_known(
    terminating: Fact[bool], name: str, hint: str = "are the context and the namespace right?"
) -> None:
    if isinstance(terminating, Absent):
        raise RefusedError(f"namespace {name} does not exist", reason=Reason.NOT_FOUND, hint=hint)


def _refuse_terminating(terminating: Fact[bool], name: str) -> None:
    if terminating == Known(value=True):
        raise RefusedError(
            f"namespace {name} is being deleted",
            reason=Reason.REJECTED,
            hint="nothing can be created in it now",
        )


def role_name(about: str) -> str:
    """Return the name of the Role for work on one object: each has its own.

    kubectl takes no slash in it, as in `sts/db`, and Roles as objects have colons: it keeps to
    what any name may have (RFC 1123), with room for what is appended.
    """
    words = re.sub(r"[^a-z0-9.-]", "-", about.lower())[:_MOST_OF_A_NAME].split(".")
    return f"rollout-gate-{'.'.join(filter(None, (word.strip('-') for word in words)))}"


_WHY_SECRETS_GO: Final = """\
# delete of secrets: what a Secret was is kept in one of rollout-gate's own, until the run has ended
"""

_WHY_LEASES_ARE_READ: Final = """\
# leases: optional, to read what locks remember and what an attempt left unfinished
"""


def printed_role(context: CommandContext, about: str, wanted: Iterable[Permission]) -> str:
    """Return the Role for `--rbac`, with comments above it: who it is for, and why."""
    subject, why = context.settings.rbac_subject, "as --rbac-subject says"
    if subject is None:
        subject = subject_of(Access(context.session.client).username())
        named = "--rbac-subject names somebody else"
        why = f"who asked for this; {named}"
        if subject == STAND_IN:
            why = f"a placeholder, since the server does not tell who asks; {named}"
    wanted = tuple(wanted)
    role = role_yaml(role_name(about), wanted, subject)
    notes = f"# for {clean_line(str(subject))}, {why}\n"
    if any((one.resource, one.verb) == (SECRETS.plural, "delete") for one in wanted):
        notes += _WHY_SECRETS_GO
    of_leases = {one.verb for one in wanted if one.resource == LEASES.plural}
    if of_leases and "create" not in of_leases:
        notes += _WHY_LEASES_ARE_READ
    return notes + role


def check_access(
    session: Session,
    about: str,
    needs: Iterable[Permission],
    wished: Iterable[Permission] = (),
    advise: Callable[[Collection[Permission]], str] = lambda _: "",
) -> None:
    """Refuse if permissions are missing that the attempt or its rollback may need, all at once.

    The hint prints a Role that adds to others: it has a name of its own. It also grants the
    `wished` permissions, whose lack is only a warning; they are checked only if it is printed.
    Above it stands the line, if any, that `advise` returns for what is missing.
    """
    access = Access(session.client)
    missing = access.missing(needs)
    if not missing:
        return
    subject = subject_of(access.username())
    optional = access.missing(wished)
    role = additional_role_yaml(f"{role_name(about)}-missing", missing, subject, optional)
    listed = ", ".join(dict.fromkeys(str(permission) for permission in missing))
    lines = [*filter(None, [advise(missing)]), f"this Role grants what is missing:\n{role}"]
    raise RefusedError(
        f"not allowed: {listed}",
        reason=Reason.FORBIDDEN,
        hint="\n".join(lines),
    )
