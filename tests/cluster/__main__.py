"""A control plane with scripted pods to play with: `python -m tests.cluster`, until a signal."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.cluster.build import BuildError
from tests.cluster.cluster import own_cluster
from tests.cluster.server_process import ServerError


def main() -> None:
    """Start the cluster, say how to reach it, and stop it on SIGINT, SIGTERM or SIGHUP."""
    arguments = _parser().parse_args()
    # End by an exception, so that whatever is open gets closed; SIGINT too, which a shell's
    # background jobs are started with as ignored.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(0))
    try:
        with ExitStack() as stack:
            folder = arguments.folder
            if folder is None:
                temporary = TemporaryDirectory(prefix="rollout-gate-cluster-")
                folder = Path(stack.enter_context(temporary))
            folder.mkdir(parents=True, exist_ok=True)
            cluster = stack.enter_context(own_cluster(folder.absolute()))
            print(f"export KUBECONFIG={cluster.admin_kubeconfig}", flush=True)
            print(f"kubectl: {cluster.kubectl}; logs: {folder}; Ctrl-C ends it", file=sys.stderr)
            threading.Event().wait()
    except KeyboardInterrupt:
        return
    except (BuildError, ServerError) as error:
        sys.exit(f"error: {error}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("--folder", type=Path, help="where its files go")
    return parser


if __name__ == "__main__":
    main()
