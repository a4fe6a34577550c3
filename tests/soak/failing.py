"""The failing network of the soak, as a process: `python -m tests.soak.failing`.

One request of twenty fails, in one of five ways, and no watch lives for ten seconds. Its first line
says where it listens; SIGTERM ends it.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from tests.cluster.access import Certificate
from tests.faults import answers, connections, streams
from tests.faults.proxy import Proxy
from tests.faults.request import WATCHES, Match
from tests.faults.script import Fault, Rule, Script

SEED = 20_260_101
SHARE = 0.05

_FAILURES: tuple[Fault, ...] = (
    answers.page(503),
    answers.too_many(),
    answers.page(500),
    connections.Drop(),
    connections.LostAnswer(),
)
# Every request draws once: each rule takes the next slice of the share.
_RULES = (
    *(
        Rule(Match(watch=False), fault, chance=SHARE * (number + 1) / len(_FAILURES))
        for number, fault in enumerate(_FAILURES)
    ),
    Rule(WATCHES, connections.Drop(), chance=SHARE),
    Rule(WATCHES, streams.CutAfter(seconds=1.0), chance=0.4),
    Rule(WATCHES, streams.CutAfter(seconds=4.0, reset=True), chance=0.7),
    Rule(WATCHES, streams.EndAfter(seconds=9.0)),
)


def main() -> None:
    """Fail until a signal: SERVER AUTHORITY CERTIFICATE KEY."""
    server, *paths = sys.argv[1:]
    authority, certificate, key = map(Path, paths)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    with Proxy(server, authority, Certificate(certificate, key)) as proxy:
        proxy.play(Script(_RULES, seed=SEED))
        sys.stdout.write(f"{proxy.url}\n")
        sys.stdout.flush()
        signal.sigwait({signal.SIGTERM})


if __name__ == "__main__":
    main()
