"""One engine that scrapes one target, as a process on loopback with its data in a folder."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Self
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

import yaml

from tests.cluster.control_plane import free_ports
from tests.cluster.server_process import ServerError, ServerProcess
from tests.engines.programs import Kind, program

START_SECONDS = 30.0
SEEN_SECONDS = 20.0
SCRAPE_INTERVAL = "1s"
PORT_ATTEMPTS = 3

# Whatever proxy the environment names, loopback is asked directly.
_OPENER = build_opener(ProxyHandler({}))


class Engine:
    """A Prometheus-compatible server with its API at `url`, as a context manager.

    `process` may be stopped, started and suspended to play its outage; what it had scraped stays.
    """

    def __init__(self, kind: Kind, target: str, folder: Path) -> None:
        """Take what to run, the `HOST:PORT` that it scrapes each second, and where its data go."""
        self.kind = kind
        self._program = program(kind)
        self._folder = folder
        self._config = folder / "scrape.yaml"
        self._config.write_text(_scrape_config(target))
        self._use_free_port()

    def __enter__(self) -> Self:
        """Start it, and wait until it serves and has scraped its target."""
        try:
            self._start()
            self._wait_until_scraping()
        except BaseException:
            self.process.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.process.stop()

    def restart(self) -> None:
        """Start it again after its process was stopped; return as soon as it scrapes again."""
        self.process.start()
        self.wait_until_serving()
        self._wait_until_scraping()

    def wait_until_serving(self) -> None:
        """Return when it answers; `ServerError` where it ends or takes too long."""
        ready = "/-/ready" if self.kind is Kind.PROMETHEUS else "/health"
        deadline = time.monotonic() + START_SECONDS
        while not _answers(self.url + ready):
            self.process.check()
            if time.monotonic() > deadline:
                tail = self.process.log_tail()
                raise ServerError(f"{self.kind} is not ready; its log ends:\n{tail}")
            # The server offers nothing to wait on before it serves.
            time.sleep(0.05)

    def ask(self, query: str) -> list[dict[str, Any]]:
        """Return the series of an instant query, as the API has them."""
        # VictoriaMetrics answers for a moment half a minute ago unless it is told not to cache.
        words = urlencode({"query": query, "nocache": 1, "time": f"{time.time():.3f}"})
        answer = _read(f"{self.url}/api/v1/query?{words}")
        result: list[dict[str, Any]] = answer["data"]["result"]
        return result

    def wait_for(self, query: str, timeout_seconds: float = SEEN_SECONDS) -> float:
        """Return the value of a query as soon as it has any series; `TimeoutError`."""
        deadline = time.monotonic() + timeout_seconds
        while not (series := self.ask(query)):
            self.process.check()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.kind} knows nothing of {query}")
            # Data come with the scrapes: there is nothing to wait on.
            time.sleep(0.1)
        return float(series[0]["value"][1])

    def _wait_until_scraping(self) -> None:
        # The query `up` is no way to wait: VictoriaMetrics keeps for ten seconds that it is empty.
        deadline = time.monotonic() + START_SECONDS
        while not _is_scraped(_read(f"{self.url}/api/v1/targets")["data"]["activeTargets"]):
            self.process.check()
            if time.monotonic() > deadline:
                raise ServerError(
                    f"{self.kind} does not scrape; its log ends:\n{self.process.log_tail()}"
                )
            time.sleep(0.05)

    def _start(self) -> None:
        for attempt in range(1, PORT_ATTEMPTS + 1):
            self.process.start()
            try:
                self.wait_until_serving()
            except ServerError as error:
                # Between our look and the server's bind somebody else may have taken the port.
                if "address already in use" not in str(error) or attempt == PORT_ATTEMPTS:
                    raise
                self._use_free_port()
            else:
                return

    def _use_free_port(self) -> None:
        [port] = free_ports(1)
        address = f"127.0.0.1:{port}"
        self.url = f"http://{address}"
        self.process = ServerProcess(self.kind, self._command(address), self._folder)

    def _command(self, address: str) -> list[str]:
        data = self._folder / "data"
        if self.kind is Kind.PROMETHEUS:
            return [
                str(self._program),
                f"--config.file={self._config}",
                f"--storage.tsdb.path={data}",
                f"--web.listen-address={address}",
                "--log.level=warn",
            ]
        return [
            str(self._program),
            f"-promscrape.config={self._config}",
            f"-storageDataPath={data}",
            f"-httpListenAddr={address}",
            "-loggerLevel=WARN",
        ]


def _scrape_config(target: str) -> str:
    job = {"job_name": "application", "static_configs": [{"targets": [target]}]}
    limits = {"scrape_interval": SCRAPE_INTERVAL, "scrape_timeout": SCRAPE_INTERVAL}
    return yaml.safe_dump({"global": limits, "scrape_configs": [job]})


def _is_scraped(targets: list[dict[str, Any]]) -> bool:
    return [each["health"] for each in targets] == ["up"]


def _read(url: str) -> dict[str, Any]:
    with _OPENER.open(url, timeout=START_SECONDS) as response:
        document: dict[str, Any] = json.load(response)
    return document


def _answers(url: str) -> bool:
    try:
        with _OPENER.open(url, timeout=1.0):
            return True
    except (URLError, OSError):
        return False
