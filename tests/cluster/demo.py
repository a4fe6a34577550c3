"""The first minute: a good version, then one that crashes, and the gate that catches it.

`python -m tests.cluster.demo` runs both on the real control plane and shows what a pipeline
would see. It ends with 0 when the bad version was rolled back.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.cluster import access, manifests
from tests.cluster.build import BuildError
from tests.cluster.cluster import Cluster, own_cluster
from tests.cluster.kubelet.api import JSON
from tests.cluster.server_process import ServerError

ROLLED_BACK = 4


def main() -> None:
    """Start a control plane, deploy twice, stop it."""
    try:
        with TemporaryDirectory(prefix="rollout-gate-demo-") as folder:
            print("starting a control plane ...", file=sys.stderr, flush=True)
            with own_cluster(Path(folder)) as cluster:
                sys.exit(_play(cluster, Path(folder)))
    except KeyboardInterrupt:
        sys.exit(130)
    except (BuildError, ServerError) as error:
        sys.exit(f"error: {error}")


def _play(cluster: Cluster, folder: Path) -> int:
    kubeconfig = folder / "demo.kubeconfig"
    kubeconfig.write_text(cluster.kubeconfig(access.ADMIN))
    good = manifests.deployment(
        image="shop/web:1.4.0", min_ready_seconds=1, progress_deadline_seconds=60
    )
    bad = manifests.deployment(
        image="shop/web:1.5.0",
        behaviour="crash=0.3",
        min_ready_seconds=1,
        progress_deadline_seconds=60,
    )
    _apply(kubeconfig, folder, "good.yaml", good)
    exit_code = _apply(kubeconfig, folder, "bad.yaml", bad)
    return 0 if exit_code == ROLLED_BACK else 1


def _apply(kubeconfig: Path, folder: Path, name: str, deployment: JSON) -> int:
    """Run the gate as a person would, on this terminal, and return its exit code."""
    (folder / name).write_text(manifests.yaml_text(deployment))
    print(f"\n$ rollout-gate apply -f {name}", flush=True)
    command = [sys.executable, "-m", "gate", "apply", "-f", str(folder / name)]
    command += ["--kubeconfig", str(kubeconfig), "--silence", "all"]
    exit_code = subprocess.run(command, check=False).returncode
    print(f"$ echo $?\n{exit_code}", flush=True)
    return exit_code


if __name__ == "__main__":
    main()
