"""How a suggested command names its cluster, in reports and in hints alike.

Whoever pastes it may have a different current context than the run had.
"""

from __future__ import annotations

import shlex

from gate.core.frozen import dataclass


@dataclass(frozen=True, slots=True)
class ClusterName:
    """Flags that select a cluster, for kubectl and for us; "" for one that can be left out."""

    context: str = ""
    kubeconfig: str = ""

    def flags(self, namespace: str = "") -> list[str]:
        """Return the flags that select the cluster, and the namespace if one is given."""
        named = {"-n": namespace, "--context": self.context, "--kubeconfig": self.kubeconfig}
        return [word for flag, value in named.items() if value for word in (flag, value)]

    def command(self, *words: str, namespace: str = "") -> str:
        """Return a command line that can be pasted into any shell."""
        return shlex.join([*words, *self.flags(namespace)])
