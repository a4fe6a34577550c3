"""Which version each pod ran before an attempt: a way back replaces only what the attempt moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field

from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap


@dataclass(frozen=True, slots=True)
class PodsBefore:
    """The versions that the pods of one workload ran before the first write.

    Versions are keys (`WorkloadKind.key_of_pod`), places what a pod's successor takes over from it
    (`WorkloadKind.place_of_pod`). `usual` is the version of most pods, "" if there were none, and
    `others` has the places of all other pods. A place where no pod was has the usual one.
    `going` are the uids of those that were being deleted already, `count` is how many places had a
    pod that was not.
    """

    usual: str = ""
    others: FrozenMap[str, str] = field(default_factory=FrozenMap)
    going: frozenset[str] = frozenset()
    count: int = 0

    @classmethod
    def of(
        cls, versions: Mapping[str, str], going: Iterable[str] = (), leaving: Collection[str] = ()
    ) -> PodsBefore:
        """Return them of versions by place; of `leaving` places all pods were being deleted."""
        counts = Counter(versions.values())
        usual = counts.most_common(1)[0][0] if counts else ""
        others = {place: key for place, key in versions.items() if key != usual}
        count = sum(place not in leaving for place in versions)
        return cls(usual, FrozenMap(others), frozenset(going), count)

    def ran(self, place: str, key: str) -> bool:
        """Tell whether the pod at a place ran that version."""
        return bool(key) and self.others.get(place, self.usual) == key
