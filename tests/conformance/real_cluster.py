"""The real cluster of a program: one that runs already, or one of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bed.lacking import GIVEN
from tests.cluster.cluster import Cluster, given_cluster, own_cluster


@contextmanager
def real_cluster() -> Iterator[Cluster]:
    """Use the cluster that the environment names, or start one."""
    given = os.environ.get(GIVEN)
    with TemporaryDirectory(prefix="rollout-gate-conformance-") as name:
        folder = Path(name)
        context = given_cluster(Path(given), folder) if given else own_cluster(folder)
        with context as cluster:
            yield cluster
