"""Records the scenarios on a real control plane: `python -m tests.conformance.record --runs 5`.

What it saw is kept in `real/`, together with the recording in `tests/traces`. `--add` keeps what
was known before as well; names of scenarios choose some.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tests.cluster.build import BuildError
from tests.cluster.server_process import ServerError
from tests.conformance import known, scenarios
from tests.conformance.bounds import broken
from tests.conformance.judging import judged, judged_file
from tests.conformance.known import Known, Summary
from tests.conformance.player import play
from tests.conformance.real_bed import RealBed
from tests.conformance.real_cluster import real_cluster
from tests.conformance.recording import Played, read
from tests.conformance.scenarios import Scenario
from tests.conformance.settled import settled
from tests.conformance.summary import story


def main() -> None:
    """Play each scenario `--runs` times, and keep what is known after each run."""
    arguments = _parser().parse_args()
    if unknown := set(arguments.scenarios) - set(scenarios.BY_NAME):
        sys.exit(f"error: no such scenario: {', '.join(sorted(unknown))}")
    chosen = [scenarios.BY_NAME[name] for name in arguments.scenarios or scenarios.BY_NAME]
    found = {
        each.name: known.read(each.name) if arguments.add else _shared(each) for each in chosen
    }
    try:
        with real_cluster() as cluster:
            for run in range(arguments.runs):
                for scenario in chosen:
                    played = play(RealBed(cluster.api), scenario, _namespace(scenario, run))
                    _keep(scenario, played, found[scenario.name])
                    if arguments.traces:
                        arguments.traces.mkdir(parents=True, exist_ok=True)
                        played.write(arguments.traces / f"{scenario.name}-{run}.jsonl")
    except (BuildError, ServerError) as error:
        sys.exit(f"error: {error}")


def _shared(scenario: Scenario) -> Known:
    """Begin with the recording that the tests of the judge have."""
    path = known.TRACES / f"{scenario.name}.jsonl"
    decision = judged_file(path, scenario.flags)
    begun = Known()
    begun.add(Summary(story(read(path)), decision, None))
    return begun


def _namespace(scenario: Scenario, run: int) -> str:
    return f"{scenario.name}-{os.getpid()}-{run}"


def _keep(scenario: Scenario, played: Played, found: Known) -> None:
    recording = played.recording
    decision = judged(played, scenario.flags)
    summary = Summary(story(recording), decision, settled(recording.at_end()))
    is_known = summary.story in found.stories
    found.kubernetes = played.kubernetes
    found.add(summary)
    known.write(scenario.name, found)
    outside = broken(recording, scenario.deleted_pods)
    print(scenario.name, decision, "" if is_known else "a new story", flush=True)
    for line in outside:
        print("   ", line, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.record", description=__doc__)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    parser.add_argument("--runs", type=int, default=5, help="how often each is played")
    parser.add_argument("--traces", type=Path, help="a folder that is given the recordings")
    parser.add_argument("--add", action="store_true", help="keep what is known")
    return parser


if __name__ == "__main__":
    main()
