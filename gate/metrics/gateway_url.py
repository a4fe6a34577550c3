"""The address of a Pushgateway, and the key of each group in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from gate.metrics.families import PLACE
from gate.metrics.run import Place

JOB: Final = "rollout-gate"
_KEY: Final = "/metrics/job/"


@dataclass(frozen=True, slots=True)
class GatewayUrl:
    """A Pushgateway, and the labels that all groups of a run have in common.

    The URL may end in such labels, as the Pushgateway itself writes them. Of several clusters that
    push to one, `.../metrics/job/rollout-gate/cluster/production` tells them apart.
    """

    base: str
    labels: dict[str, str]

    @classmethod
    def parse(cls, url: str) -> GatewayUrl:
        """Read it; ValueError for labels that have no value, or that are those of each group."""
        parts = urlsplit(url)
        path, key, rest = parts.path.partition(_KEY)
        words = ["job", *map(unquote, rest.strip("/").split("/"))] if key else ["job", JOB]
        labels = dict(zip(words[::2], words[1::2], strict=False))
        if len(words) != 2 * len(labels) or not all(words) or labels.keys() & set(PLACE):
            own = " and ".join(PLACE)
            raise ValueError(
                f"the URL needs a name behind {_KEY}, then labels each with a value, "
                f"none of them {own}, which are of each group"
            )
        base = urlunsplit((parts.scheme, parts.netloc, path.rstrip("/"), "", ""))
        return cls(base, labels)

    def group(self, place: Place) -> str:
        """Return the URL of a group; a manifest without a Deployment has its namespace's."""
        own = {name: value for name, value in zip(PLACE, place, strict=True) if value}
        key = (f"{_quoted(name)}/{_quoted(value)}" for name, value in (self.labels | own).items())
        return "/".join((self.base, "metrics", *key))

    @property
    def groups(self) -> str:
        """The URL that lists all groups there are (Pushgateway, API v1)."""
        return f"{self.base}/api/v1/metrics"


def _quoted(word: str) -> str:
    return quote(word, safe="")
