"""The options of a run's own metrics: where they are delivered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final

from gate.config.kinds import Text
from gate.config.option import VARIABLE_PREFIX, Form, Group, Option
from gate.config.option_values import OptionValues
from gate.config.parsing import parse_port, parse_text
from gate.config.takers import LOCKING
from gate.config.taking import schema_of, taken_if_set_by
from gate.core.frozen import dataclass
from gate.errors import UsageError
from gate.metrics.gateway_url import EXAMPLE, GatewayUrl
from gate.sources.access import Access, SecretVariable
from gate.sources.address import Address

LOOPBACK: Final = "127.0.0.1"
TOKEN: Final = f"{VARIABLE_PREFIX}PUSHGATEWAY_TOKEN"
USER: Final = f"{VARIABLE_PREFIX}PUSHGATEWAY_USER"
PASSWORD: Final = f"{VARIABLE_PREFIX}PUSHGATEWAY_PASSWORD"
GATEWAY_VARIABLES: Final = (TOKEN, USER, PASSWORD)
"""Variables that the environment may hold with credentials for the Pushgateway."""
_HOST: Final = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9._-]+)?\]", re.ASCII)


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where an endpoint listens; port 0 means any free port."""

    host: str
    port: int

    @classmethod
    def parse(cls, value: object) -> ListenAddress:
        """Read `HOST:PORT`, `:PORT` or `PORT` (on loopback); UsageError otherwise."""
        if isinstance(value, ListenAddress):
            return value
        host, _, port = str(value).strip().rpartition(":")
        if host and not _HOST.fullmatch(host):
            hint = "HOST:PORT or PORT, as in 127.0.0.1:9464 or [::1]:9464"
            raise UsageError(f"not an address to listen on: {str(value)[:60]!a}", hint=hint)
        return cls(host.strip("[]") or LOOPBACK, parse_port(port))


def _gateway(value: object) -> GatewayUrl:
    """Take a URL without credentials, query and fragment."""
    if isinstance(value, GatewayUrl):
        return value
    url = Address.parse(parse_text(value), example=EXAMPLE).url
    if "?" in url or "#" in url:
        raise UsageError("the URL of a Pushgateway has neither query nor fragment")
    return GatewayUrl.parse(url)


Listen = Annotated[
    ListenAddress | None,
    Form("ADDR:PORT"),
    taken_if_set_by(ListenAddress.parse),
    schema_of("string", "integer"),
]
Pushgateway = Annotated[
    GatewayUrl | None,
    Form("URL"),
    taken_if_set_by(_gateway),
    schema_of("string", pattern="^https?://"),
]


class MetricsSettings(OptionValues):
    """Abstract: the part of the settings that is about metrics."""

    pushgateway: Annotated[
        Pushgateway,
        Option(Group.METRICS, LOCKING, "push the run's metrics there when it ends"),
    ] = None
    metrics_textfile: Annotated[
        Text,
        Option(
            Group.METRICS,
            LOCKING,
            "write the run's metrics to this file when it ends, for the node exporter",
            "FILE",
        ),
    ] = None
    metrics_listen: Annotated[
        Listen,
        Option(
            Group.METRICS,
            LOCKING,
            "serve the run's metrics while it lasts; on loopback unless an address is named",
        ),
    ] = None


def gateway_access(environ: Mapping[str, str], *, allow_plain_http: bool = False) -> Access:
    """Return the access to a Pushgateway: by token, by user and password, or anonymous."""

    def is_set(name: str) -> bool:
        return bool(environ.get(name, "").strip())

    token = SecretVariable(TOKEN, environ) if is_set(TOKEN) else None
    pair = (SecretVariable(USER, environ), SecretVariable(PASSWORD, environ))
    user = pair if is_set(USER) or is_set(PASSWORD) else None
    return Access(token, user, allow_plain_http=allow_plain_http)
