"""The canonical form of a world: a digest that worlds share which differ in nothing that decides.

Three symmetries are divided out, each exact for a core that only compares: times count from now
(`step` never sees an absolute one), resourceVersions and generations count by their order among
those of the same object, and effects by the order in which they were asked for. Texts for people
are left out; so are times that only reports show.
"""

from __future__ import annotations

import hashlib
import marshal
from typing import Final

from gate.core.protocol.events import Written
from tests.model import shown
from tests.model.cluster import Cluster, name_of
from tests.model.configuration import UID
from tests.model.forms import NO_REFERENCES, Form
from tests.model.world import Flight, World

DIGEST_BYTES: Final = 16


def digest(world: World) -> bytes:
    """Return the digest of a world's canonical form."""
    attempt = world.attempt
    form = Form(attempt.now if attempt is not None else 0.0)
    if attempt is not None:
        form.add(attempt)
    _add_world(world, form)
    ranks = {number: rank for rank, number in enumerate(sorted(set(form.numbers)))}
    order = [ranks[number] for number in form.numbers]
    text = marshal.dumps((form.atoms, order), NO_REFERENCES)
    return hashlib.blake2b(text, digest_size=DIGEST_BYTES).digest()


def _add_world(world: World, form: Form) -> None:
    attempt = world.attempt
    _add_cluster(world.cluster, form)
    if world.past is not None:
        _add_cluster(world.past, form)
    if world.settings is not None:
        form.atoms += (*world.settings.mode, *world.settings.level)
        form.numbers.append((UID, world.settings.version))
    form.atoms += (world.number, world.contact, world.controlling, world.watching, world.again)
    form.atoms.append(world.back_at - form.now)
    form.atoms += (*world.books.found, *world.books[1:])
    if attempt is not None and world.deaf:
        form.atoms.append([number in world.deaf for number in sorted(attempt.requests.outstanding)])
    if attempt is not None and world.evicted:
        form.atoms.append([one in world.evicted for one in sorted(attempt.requests.outstanding)])
    _add_lease(world, form)
    for flight in world.flights:
        _add_flight(flight, form)


def _add_lease(world: World, form: Form) -> None:
    """Add what the Lease keeps; the record of an attempt that runs follows from the attempt."""
    record = world.lease.record
    if world.attempt is None:
        form.add(record)
    else:
        form.atoms.append(record.leg.value if record is not None else "")
    form.add(world.lease.history)


def _add_cluster(cluster: Cluster, form: Form) -> None:
    uid = shown.uid_of(cluster.uid)
    form.numbers += (
        (uid, cluster.version),
        (uid + "*", cluster.generation),
        (uid + "*", cluster.observed),
    )
    form.atoms += (cluster.uid, cluster.made, *cluster.template, cluster.image_by)
    form.atoms += (cluster.replicas, cluster.replicas_by, cluster.paused, *cluster.status)
    form.atoms.append(cluster.paused_by)
    for one in cluster.sets:
        name = name_of(one.template)
        form.atoms += (name, len(one.pods))
        form.numbers.append((f"{name}-of-{uid}", one.version))
        for pod in one.pods:
            form.atoms += (pod.serial, pod.phase, pod.ordinal, pod.going)
            form.numbers.append((f"{name}-{pod.serial}-of-{uid}", pod.version))


def _add_flight(flight: Flight, form: Form) -> None:
    form.atoms += (flight.back, flight.number, flight.late, type(flight.answer).__name__)
    form.add(flight.write)
    if isinstance(flight.answer, Written) and flight.answer.live is not None:
        form.add(flight.answer.live)
