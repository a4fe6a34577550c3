"""The scripted kubelet as a process: `python -m tests.cluster.kubelet --kubeconfig FILE ...`."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.cluster.kubelet.api import Api, from_kubeconfig
from tests.cluster.kubelet.kubelet import Kubelet
from tests.cluster.kubelet.log_server import LogServer
from tests.cluster.kubelet.node import Node
from tests.cluster.kubelet.nodes import Nodes

log = logging.getLogger("kubelet")


def main() -> int:
    """Play pods until SIGTERM or SIGINT."""
    arguments = _parser().parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    threading.excepthook = _end_loudly
    with (
        TemporaryDirectory(prefix="kubelet-") as folder,
        from_kubeconfig(arguments.kubeconfig, Path(folder), "scripted-kubelet") as api,
    ):
        _play(api, arguments)
    return 0


def _play(api: Api, arguments: argparse.Namespace) -> None:
    kubelet = Kubelet(api, arguments.node, arguments.scheduler_name)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: kubelet.stop())
    with LogServer(arguments.certificate, arguments.key, kubelet.read_log) as log_server:
        threading.Thread(target=log_server.serve_forever, name="logs", daemon=True).start()
        shares_cluster = bool(arguments.scheduler_name)
        node = Node(api, arguments.node, log_server.port)
        node.register(tainted=shares_cluster)
        nodes = Nodes(api, log_server.port, node)
        threading.Thread(target=nodes.run, name="nodes", daemon=True).start()
        kubelet.run(nodes.hear)
        if shares_cluster:
            node.remove()
        log_server.shutdown()


def _end_loudly(failure: threading.ExceptHookArgs) -> None:
    """End the process: a kubelet that lost a thread would only look alive."""
    log.error("thread %s failed", failure.thread, exc_info=failure.exc_value)
    logging.shutdown()
    os._exit(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.kubelet", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--certificate", type=Path, required=True, help="of the log server, PEM")
    parser.add_argument("--key", type=Path, required=True)
    parser.add_argument("--node", default="rig-0")
    parser.add_argument(
        "--scheduler-name",
        default="",
        help="play only pods with this schedulerName, for a cluster with nodes of its own",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
