"""Runs attempts in a row and says what they left behind: `python -m tests.soak [ATTEMPTS]`."""

from __future__ import annotations

import io
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from gate.app.runtime.world import Streams, outside
from gate.cli.main import run
from tests.cluster import manifests
from tests.cluster.objects import Objects, is_complete
from tests.soak.residue import Residue, growth, residue, settled
from tests.soak.stage import NAMESPACE, Stage, staged

ATTEMPTS = 500
BAD_EACH = 4
MOST_GROWTH = 0.05
REFUSED = 3
_EXPECTED = {True: 0, False: 4}
_BUDGETS = ("--timeout", "60s", "--rollback-timeout", "60s", "--connect-timeout", "30s")


@dataclass(frozen=True, slots=True)
class Attempt:
    """How one attempt ended; `wrong` says what does not agree, "" for nothing."""

    exit_code: int
    wrong: str
    seconds: float


def main() -> None:
    """Run, report, and end with 1 where something is wrong or was left behind."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else ATTEMPTS
    with TemporaryDirectory(prefix="rollout-gate-soak-") as temporary:
        folder = Path(temporary)
        with staged(folder) as stage:
            ended, samples = _soak(stage, count)
            left = settled(samples[0])
    wrong = [attempt.wrong for attempt in ended if attempt.wrong]
    for line in _report(ended, samples, left):
        sys.stdout.write(f"{line}\n")
    is_clean = left.threads <= samples[0].threads and left.descriptors <= samples[0].descriptors
    sys.exit(int(bool(wrong) or not is_clean or growth(samples) > MOST_GROWTH))


def _soak(stage: Stage, count: int) -> tuple[list[Attempt], list[Residue]]:
    """Return the ends, and what there was after the first attempt and after each."""
    serving = "shop/web:0"
    attempt, serving = _attempt(stage, 0, serving)
    samples, ended = [settled(residue())], [attempt]
    for number in range(1, count):
        attempt, serving = _attempt(stage, number, serving)
        ended.append(attempt)
        samples.append(residue())
    return ended, samples


def _attempt(stage: Stage, number: int, serving: str) -> tuple[Attempt, str]:
    """Apply the next version; return how it ended, and which image has to serve then.

    One that is refused before its first write is no wrong verdict, where nothing has changed.
    """
    is_good = number % BAD_EACH != BAD_EACH - 1
    image = f"shop/web:{number}"
    behaviour = "" if is_good else "crash=0.1"
    body = manifests.deployment(image=image, replicas=2, behaviour=behaviour)
    path = stage.folder / "web.yaml"
    path.write_text(manifests.yaml_text(body))
    out, err = io.StringIO(), io.StringIO()
    through = ("--kubeconfig", str(stage.kubeconfig))
    words = ("apply", "-f", str(path), "--output", "json", *_BUDGETS, *through)
    began_at = time.monotonic()
    code = run(words, replace(outside(), streams=Streams(io.BytesIO(), out, err)), {})
    seconds = time.monotonic() - began_at
    serves = image if is_good else serving
    if code == REFUSED:
        serves = serving  # nothing was written, says the code: that is held against what runs
    wrong = _wrong(stage, code, (_EXPECTED[is_good], REFUSED), serves, out.getvalue())
    if wrong or code == REFUSED:
        sys.stderr.write(f"attempt {number}: {wrong or 'refused'}\n{err.getvalue()}\n")
    return Attempt(code, wrong, seconds), serves


def _wrong(stage: Stage, code: int, expected: tuple[int, ...], image: str, said: str) -> str:
    """Return what an end does not agree with: the version, the document, or what runs."""
    if code not in expected:
        return f"exit {code}, not {expected[0]}"
    if json.loads(said)["exit_code"] != code:
        return "the document has another exit code"
    live = Objects(stage.api, NAMESPACE).get("deployments", "web")
    found = live["spec"]["template"]["spec"]["containers"][0]["image"]
    if found != image:
        return f"{found} is live, not {image}"
    return "" if is_complete(live) else "what is live is not complete"


def _report(ended: list[Attempt], samples: list[Residue], left: Residue) -> list[str]:
    codes = Counter(attempt.exit_code for attempt in ended)
    first, last = samples[0], samples[-1]
    grown = f"{growth(samples):+.1%} since the second fifth"
    return [
        f"{len(ended)} attempts in {sum(each.seconds for each in ended):.0f} s",
        f"exit codes: {dict(sorted(codes.items()))}",
        f"wrong: {sum(bool(each.wrong) for each in ended)}",
        f"refused before the first write: {codes[REFUSED]}",
        f"threads: {first.threads} after the first attempt, {left.threads} at the end",
        f"descriptors: {first.descriptors} after the first attempt, {left.descriptors} at the end",
        f"memory: {first.mebibytes:.1f} MiB, then {last.mebibytes:.1f} MiB, {grown}",
    ]


if __name__ == "__main__":
    main()
