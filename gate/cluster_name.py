"""How a command that is advised names its cluster, in reports and in hints alike.

Whoever pastes it may have another context chosen than the run had.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClusterName:
    """What leads to a cluster, for kubectl and for us; "" for what the command need not say."""

    context: str = ""
    kubeconfig: str = ""

    def flags(self, namespace: str = "") -> list[str]:
        """Return the flags that lead there, and into the namespace where one is meant."""
        named = {"-n": namespace, "--context": self.context, "--kubeconfig": self.kubeconfig}
        return [word for flag, value in named.items() if value for word in (flag, value)]

    def command(self, *words: str, namespace: str = "") -> str:
        """Return a line that can be pasted into any shell."""
        return shlex.join([*words, *self.flags(namespace)])
