"""Our living branch beside what Anthropic's own reader returns, and why they differ where they do.

    python -m tests.sdk.comparing FOLDER…      counts over all Claude logs below, each difference with its reason

The reasons are those of docs/branches.md; a difference without one is a mistake of ours until it has one.
"""

from __future__ import annotations

import collections
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.sdk.environment import messages_of
from tests.sdk.feeding import Reading

AGREED = "agreed"
EMPTY = "without a message"
KEPT = "kept over a compaction"
DROPPED = "calls that a resume dropped"
MARKED = "the mark of the client"
ORDER = "order of results within one answer"
UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class Comparison:
    """One session, read twice."""

    log: Path
    ours: list[str]
    theirs: list[str]
    verdict: str


def main_logs(folders: Iterable[Path]) -> list[Path]:
    """The logs below that are sessions of their own, not work of a subagent."""
    found = (path for folder in folders for path in folder.rglob("*.jsonl"))
    return sorted(p for p in found if not p.name.startswith("agent-") and "subagents" not in p.parts)


def compare(logs: list[Path]) -> list[Comparison]:
    """Reads copies of the logs with the SDK, all in one go, and the logs with our own reader."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        project = home / "projects" / "-project"
        project.mkdir(parents=True)
        ids = {str(uuid.uuid4()): log for log in logs}
        for id, log in ids.items():
            shutil.copyfile(log, project / f"{id}.jsonl")
        answers = messages_of(home, list(ids))
    return [_compared(log, answers[id]) for id, log in ids.items()]


def _compared(log: Path, theirs: list[str]) -> Comparison:
    reading = Reading(log)
    verdict = verdict_on(reading, theirs)
    if verdict == UNEXPLAINED and verdict_on(Reading(log, with_marks=False), theirs) != UNEXPLAINED:
        verdict = MARKED
    return Comparison(log, reading.living, theirs, verdict)


def verdict_on(reading: Reading, theirs: list[str]) -> str:
    """Why what the SDK returns is not our living branch."""
    ours = reading.living
    if ours == theirs:
        return AGREED if ours else EMPTY
    only_ours, only_theirs = set(ours) - set(theirs), set(theirs) - set(ours)
    if not only_ours and not only_theirs:
        return ORDER if _blocks_first(reading, ours) == _blocks_first(reading, theirs) else UNEXPLAINED
    shared = [id for id in ours if id not in only_ours] == [id for id in theirs if id not in only_theirs]
    if shared and not only_theirs and only_ours <= reading.kept:
        return KEPT
    if shared and not only_ours and only_theirs <= reading.unanswered & reading.graph.abandoned():
        return DROPPED
    return UNEXPLAINED


def _blocks_first(reading: Reading, ids: list[str]) -> list[str]:
    """The same without results: their order within an answer is a matter of taste."""
    return [id for id in ids if id not in reading.results]


def main(folders: list[str]) -> int:
    """Prints the counts, and each difference; fails on one that is unexplained."""
    compared = compare(main_logs(map(Path, folders)))
    for one in compared:
        if one.verdict not in (AGREED, EMPTY):
            print(f"{one.verdict}: {one.log}")
    counts = collections.Counter(one.verdict for one in compared)
    print(f"{len(compared)} logs: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()))
    return int(counts[UNEXPLAINED] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
