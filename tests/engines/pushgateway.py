"""A real Pushgateway as a process on loopback, which keeps nothing on disk."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Self
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, build_opener

from tests.cluster.control_plane import free_ports
from tests.cluster.server_process import ServerError, ServerProcess
from tests.engines.programs import Tool, program

START_SECONDS = 30.0

# Whatever proxy the environment names, loopback is asked directly.
_OPENER = build_opener(ProxyHandler({}))


class Gateway:
    """A Pushgateway at `url`, as a context manager; `web_config` is its own file, for credentials.

    `process` may be stopped and suspended to play its outage.
    """

    def __init__(self, folder: Path, web_config: str = "") -> None:
        """Take where its log goes."""
        [port] = free_ports(1)
        self.target = f"127.0.0.1:{port}"
        self.url = f"http://{self.target}"
        command = [
            str(program(Tool.PUSHGATEWAY)),
            f"--web.listen-address={self.target}",
            "--persistence.file=",
            "--log.level=warn",
        ]
        if web_config:
            path = folder / "web.yaml"
            path.write_text(web_config)
            command.append(f"--web.config.file={path}")
        self.process = ServerProcess(Tool.PUSHGATEWAY, command, folder)

    def __enter__(self) -> Self:
        """Start it, and wait until it answers."""
        try:
            self.process.start()
            self._wait_until_serving()
        except BaseException:
            self.process.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.process.stop()

    def groups(self) -> dict[tuple[tuple[str, str], ...], dict[str, Any]]:
        """Return every group by its labels: each metric's samples, as the API has them."""
        with _OPENER.open(f"{self.url}/api/v1/metrics", timeout=START_SECONDS) as response:
            data = json.load(response)["data"]
        return {
            tuple(sorted(group["labels"].items())): {
                name: family["metrics"]
                for name, family in group.items()
                if isinstance(family, dict) and "metrics" in family
            }
            for group in data
        }

    def _wait_until_serving(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            self.process.check()
            if time.monotonic() > deadline:
                raise ServerError(f"no Pushgateway:\n{self.process.log_tail()}")
            # The server offers nothing to wait on before it serves.
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            with _OPENER.open(f"{self.url}/-/ready", timeout=1.0):
                return True
        except HTTPError:
            return True  # it asks for credentials
        except (URLError, OSError):
            return False
