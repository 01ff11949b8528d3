"""Counts the verdicts of all calls in a folder of logs: by agent, by tool, by version. Writes tables in Markdown.

    python -m bench.verdicts DIR

What it counts stands in docs/verdicts.md, with the day of the count.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tracklog.agents.discovery import find_at
from tracklog.model.session import Call, Session
from tracklog.reading.family import families
from tracklog.reading.session_files import group
from tracklog.reading.session_reader import read_session

Counts = Counter[tuple[str, str]]
_FEW = 10  # tools that were called less often stand in one row


def sessions_in(folder: Path) -> Iterator[Session]:
    """All sessions under a folder, one at a time, each call in the session that made it."""
    groups = group(find_at(folder))
    kin, known = families(groups), {files.id for files in groups}
    for files in groups:
        session = read_session(files, kin.get((files.agent, files.id)), with_text=False)
        for thread in session.threads:
            thread.calls = [
                call for call in thread.calls if not (call.is_inherited and call.session in known)
            ]
        yield session


def verdict_of(call: Call) -> str:
    """The verdict, with the outcome of what went on in the background."""
    return f"{call.verdict}: {call.outcome}" if call.outcome else call.verdict


def version_of(session: Session) -> str:
    """The agent and its release, without the last number."""
    numbered = [version for version in session.versions if version[:1].isdecimal()]
    return f"{session.agent} {'.'.join(numbered[-1].split('.')[:2]) if numbered else 'unknown'}"


def counted(sessions: Iterable[Session]) -> tuple[dict[str, Counts], Counter[str]]:
    """Calls by agent, tool and version against their verdicts, and what else is of note."""
    by: dict[str, Counts] = {"agent": Counter(), "tool": Counter(), "version": Counter()}
    seen: Counter[str] = Counter()
    for session in sessions:
        seen["sessions"] += 1
        for call in session.calls:
            seen["calls"] += 1
            seen[f"{call.sureness} verdicts"] += 1
            row = {"agent": session.agent, "tool": call.name, "version": version_of(session)}
            for what, counts in by.items():
                counts[row[what], verdict_of(call)] += 1
        seen["subagents joined to their call"] += sum(one.parent_call is not None for one in session.threads)
        seen["subagents without a call"] += sum(not one.is_warmup for one in session.unjoined)
        seen["warm-ups"] += sum(one.is_warmup for one in session.threads)
        seen["results without a call"] += len(session.strays)
    return by, seen


def table(title: str, counts: Counts) -> str:
    """A table with a column for each verdict; rows with few calls are taken together."""
    totals: Counter[str] = Counter()
    for (row, _), n in counts.items():
        totals[row] += n
    few = {row for row, n in totals.items() if n < _FEW and title == "tool"}
    kept: Counts = Counter()
    for (row, verdict), n in counts.items():
        kept[f"{len(few)} others" if row in few else row, verdict] += n
    columns = [verdict for verdict, _ in _sums(kept, 1)]
    lines = [f"| {title} | calls | {' | '.join(columns)} |", "|---" * (len(columns) + 2) + "|"]
    for row, total in _sums(kept, 0):
        cells = (str(kept[row, verdict] or "") for verdict in columns)
        lines.append(f"| {row} | {total} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _sums(counts: Counts, side: int) -> list[tuple[str, int]]:
    sums: Counter[str] = Counter()
    for key, n in counts.items():
        sums[key[side]] += n
    return sorted(sums.items(), key=lambda one: (-one[1], one[0]))


def main(argv: Sequence[str]) -> int:
    if len(argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    by, seen = counted(sessions_in(Path(argv[0])))
    print("\n\n".join(table(title, counts) for title, counts in by.items()))
    print()
    print("\n".join(f"- {what}: {n}" for what, n in seen.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
