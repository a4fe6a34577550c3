"""The address of a Pushgateway, and the key of each group in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from gate.core.frozen import dataclass
from gate.errors import UsageError
from gate.metrics.families import FAMILIES

if TYPE_CHECKING:
    from gate.metrics.run import Place  # what is measured: parsing options does not need it

JOB: Final = "rollout-gate"
EXAMPLE: Final = "https://pushgateway.example"
_KEY: Final = re.compile(r"/metrics/(job(?:@base64)?/.*)", re.DOTALL)
_LABEL: Final = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]*(?:@base64)?", re.ASCII)
"""What a Pushgateway accepts as a label's name in a URL (`handler/push.go`, `splitLabels`)."""
_BASE64: Final = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
_OWN: Final = frozenset(name for family in FAMILIES for name in family.label_names)
"""Refused as labels: a group's key overwrites labels of its metrics that have the same name."""
_HINT: Final = f"as in {EXAMPLE}/metrics/job/{JOB}/cluster/production"


@dataclass(frozen=True, slots=True)
class GatewayUrl:
    """A Pushgateway, and the labels that all groups of a run have in common.

    The URL may end in such labels, as the Pushgateway itself writes them. If several clusters push
    to one, `.../metrics/job/rollout-gate/cluster/production` tells them apart.
    """

    base: str
    labels: dict[str, str]

    @classmethod
    def parse(cls, url: str) -> GatewayUrl:
        """Parse it; UsageError for labels that a Pushgateway refuses or that the metrics have."""
        parts = urlsplit(url)
        path = f"{parts.path.rstrip('/')}/"
        key = _KEY.search(path)
        # A Pushgateway decodes a path before it splits it: %2F in a value splits it too.
        words = unquote(key[1]).removesuffix("/").split("/") if key else ["job", JOB]
        above = path[: key.start()] if key else path
        base = urlunsplit((parts.scheme, parts.netloc, above.rstrip("/"), "", ""))
        return cls(base, _labels(words))

    def group(self, place: Place) -> str:
        """Return the URL of a group; without a workload it is its namespace's."""
        key = (
            f"{_quote_word(name)}/{_quote_word(value)}"
            for name, value in (self.labels | place.key).items()
        )
        return "/".join((self.base, "metrics", *key))

    @property
    def groups(self) -> str:
        """The URL that lists all groups (Pushgateway, API v1)."""
        return f"{self.base}/api/v1/metrics"


def _labels(words: Sequence[str]) -> dict[str, str]:
    """Return the labels from alternating names and values; UsageError for a bad one."""
    labels: dict[str, str] = {}
    for name, value in zip(words[::2], [*words[1::2], ""], strict=False):
        shown = f"{name[:60]!a}"
        if not _LABEL.fullmatch(name):
            raise UsageError(f"not the name of a label: {shown}", hint=_HINT)
        if not value:
            raise UsageError(f"the label {shown} has no value in the URL", hint=_HINT)
        plain = name.removesuffix("@base64")
        if name != plain and not _is_base64(value):
            raise UsageError(f"the value of the label {shown} is no base64", hint=_HINT)
        if plain in (known.removesuffix("@base64") for known in labels):
            raise UsageError(f"the label {shown} stands twice in the URL", hint=_HINT)
        if plain in _OWN:
            raise UsageError(f"the metrics have the label {shown} themselves", hint=_HINT)
        labels[name] = value
    return labels


def _is_base64(value: str) -> bool:
    """Tell whether a Pushgateway can decode it: base64 in the URL alphabet, padded or not."""
    bare = value.rstrip("=")
    return _BASE64.fullmatch(bare) is not None and len(bare) % 4 != 1


def _quote_word(word: str) -> str:
    return quote(word, safe="")
