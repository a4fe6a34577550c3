"""Bodies of verified versions that no Lease may hold: kept in a Secret beside each lock.

They are written with `--keep-verified-secrets`, and used whether or not a later run has that flag.
No fault here ends a run: it warns of what cannot be kept or read, which then cannot be restored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from gate.app.runtime.console import Warn
from gate.core.frozen import dataclass
from gate.core.model.body import Body, FrozenMap
from gate.core.model.confidential_bodies import ConfidentialBody
from gate.core.model.lock import Lock
from gate.core.model.objects import Ref
from gate.core.versions.history import History, beyond_limit
from gate.kube.answers.failures import ApiError
from gate.kube.locks.lease import Held
from gate.kube.locks.verified_secrets import VerifiedSecrets, secret_name
from gate.kube.paths.resources import SECRETS
from gate.kube.rights.access import Permission
from gate.wire.confidential import confidential_text, read_confidential
from gate.wire.decode import DecodeError

MOST_CHARACTERS: Final = 900 * 1024
"""Limit for all bodies beside one lock: a Secret holds 1 MiB (core/v1 MaxSecretSize)."""

Write = Callable[[Mapping[str, str | None]], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class VerifiedBodies:
    """Keeps and finds the bodies beside the locks of a run.

    `learn` takes each Secret that was read, so that its values are masked in every output.
    `keeps` says whether new ones are kept; those that nobody needs any more are always deleted.
    """

    secrets: VerifiedSecrets
    learn: Callable[[Mapping[str, Any]], None]
    warn: Warn
    keeps: bool = False
    most_characters: int = MOST_CHARACTERS

    def read(self, lock: Lock, digests: Collection[str]) -> dict[str, Body]:
        """Return the bodies by digest, without those missing or not matching their digest."""
        try:
            texts = self.secrets.read(lock)
        except ApiError as error:
            self.warn(f"secret/{secret_name(lock)} cannot be read: {error.message}")
            return {}
        found: dict[str, Body] = {}
        for digest in sorted(set(digests) & set(texts)):
            one = _read_verified(texts[digest], digest)
            if one is None:
                name = secret_name(lock)
                self.warn(f"secret/{name} was changed: {digest} is not what was verified, not used")
                continue
            if one.kind == "Secret":
                self.learn(one.body.thaw())
            found[digest] = one.body
        return found

    def keep(
        self,
        held: Held,
        before: History,
        after: History,
        bodies: Mapping[str, ConfidentialBody],
    ) -> History:
        """Keep what the new history needs, delete the rest; return that history with what is kept.

        No request if nothing changes; else one, and a second one to delete what a dead gate left.
        """
        needed = {digest for one in after.once_verified for digest in one.members.values()}
        new = {
            digest: confidential_text(one)
            for digest, one in (bodies.items() if self.keeps else ())
            if digest in needed
        }
        sizes = {**after.kept, **{digest: len(text) for digest, text in new.items()}}
        left_out = set(beyond_limit(after, sizes, self.most_characters))
        for line in _too_large(after, left_out):
            self.warn(line)
        wanted = {digest: size for digest, size in sizes.items() if digest not in left_out}
        texts: dict[str, str | None] = dict.fromkeys(set(before.kept) - set(wanted))
        texts.update((digest, text) for digest, text in new.items() if digest in wanted)
        if not texts:
            return after
        write = self.secrets.write if before.kept else self.secrets.create
        there = self._write_texts(partial(write, held), after, wanted, texts)
        return replace(after, kept=before.kept if there is None else there)

    def adopt(self, held: Held, history: History) -> str:
        """Let the bodies belong to a lock that was created again; name those that are lost.

        They are deleted with the lock that they belonged to, sooner or later.
        """
        if not (self.keeps or history.kept):
            return ""
        try:
            there = self.secrets.write(held, {})
        except ApiError:
            there = {}
        members = (item for version in history.once_verified for item in version.members.items())
        return _names(members, set(history.kept) - set(there))

    def _write_texts(
        self,
        write: Write,
        history: History,
        wanted: Mapping[str, int],
        texts: Mapping[str, str | None],
    ) -> FrozenMap[str, int] | None:
        """Write, and return which of the `wanted` are there; also delete what a dead gate left.

        None if the write failed: then what was kept before is still there.
        """
        try:
            there = write(texts)
        except ApiError as error:
            new = {
                one for one, text in texts.items() if text is not None and one not in history.kept
            }
            not_pruned = _not_pruned(error) if None in texts.values() else ""
            if warning := _not_kept(history, new, error) or not_pruned:
                self.warn(warning)
            return None
        if left := dict.fromkeys(set(there) - set(wanted)):
            try:
                write(left)
            except ApiError as error:
                self.warn(_not_pruned(error))
        return FrozenMap((digest, size) for digest, size in wanted.items() if digest in there)


def _read_verified(text: str, digest: str) -> ConfidentialBody | None:
    """Return a kept body; None if it does not match the digest."""
    try:
        one = read_confidential(text)
    except DecodeError:
        return None
    return one if one.digest == digest else None


def _too_large(history: History, digests: Collection[str]) -> Iterator[str]:
    for version in history.once_verified:
        names = _names(version.members.items(), digests)
        if names:
            at = f"as verified at {version.judged_at}"
            yield (
                f"{names}, {at}, is too large to be saved: "
                "a later return to this version could not restore it"
            )


def _not_kept(history: History, digests: Collection[str], error: ApiError) -> str:
    members = (item for version in history.once_verified for item in version.members.items())
    names = _names(members, digests)
    text = f"what was verified of {names} is not kept: {error.message}; no later return restores it"
    return text if names else ""


def _not_pruned(error: ApiError) -> str:
    return (
        f"saved copies of Secrets that are no longer needed could not be deleted: {error.message}"
    )


def _names(members: Iterable[tuple[Ref, str]], digests: Collection[str]) -> str:
    return ", ".join(sorted({str(ref) for ref, digest in members if digest in digests}))


# -- permissions -----------------------------------------------------------------------------------


def permissions(locks: Iterable[Lock]) -> Iterator[Permission]:
    """Yield the permissions for keeping bodies beside locks; all but `create` name the Secret."""
    for lock in sorted(set(locks)):
        yield Permission(lock.namespace, SECRETS.group, SECRETS.plural, "create")
        for verb in ("get", "patch"):
            name = secret_name(lock)
            yield Permission(lock.namespace, SECRETS.group, SECRETS.plural, verb, name)
