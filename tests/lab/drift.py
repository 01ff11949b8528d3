"""Find what tracklog does not know in the logs of the newest published clients.

    python -m tests.lab.drift [--claude VERSION] [--codex VERSION] [--markdown FILE]

Plays every scenario and prints each unknown kind, unnamed key, broken line and odd ending. Exit 1 if there is any, 2 if
a client cannot be installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.lab.clients import CURRENT, PACKAGES, Unobtainable, install
from tests.lab.published import newest_on_npm
from tests.lab.run import LabRun, play
from tests.lab.scenarios import scenarios_for
from tracklog.agents.claude_code import records
from tracklog.agents.discovery import find_at
from tracklog.reading.survey import survey
from tracklog.sources.lines import Line
from tracklog.sources.log_file import LogFile


class Finding(NamedTuple):
    """One thing in a client's logs that tracklog does not know."""

    what: str  # "unknown kind", "unnamed key", …
    name: str
    times: int = 1

    def __str__(self) -> str:
        return f"{self.what} {self.name} ({self.times}×)"


class PlayedClient(NamedTuple):
    """Findings of one client over all scenarios, each with the scenarios that showed it."""

    agent: str
    version: str
    n_scenarios: int
    n_lines: int
    findings: list[tuple[Finding, list[str]]]


def drift_of(run: LabRun) -> list[Finding]:
    """Every unknown kind, unnamed key, broken line and unreadable file of a run."""
    found = list(find_at(run.config_dir))
    result = survey(file for file in found if isinstance(file, LogFile))
    return [
        *(
            Finding("unnamed key", f"{s.kind} {s.key}", s.count)
            if s.key
            else Finding(f"{s.why}:", s.kind, s.count)
            for s in result.unknown
        ),
        *(Finding("broken line", place.rpartition("/")[2]) for place in result.broken),
        *(Finding("unreadable file", f"{skip.path.name}: {skip.why}") for skip in result.skipped),
        *_registry_drift(run),
    ]


def _registry_drift(run: LabRun) -> Iterator[Finding]:
    """Check the registry files as they were while the client ran: it deletes them when it ends."""
    for glimpse in run.glimpses:
        raw = glimpse.content
        if not raw.strip():
            continue  # caught between creation and the first write
        drift = records.REGISTRY_READER.drift()
        for piece in records.REGISTRY_READER.read([Line(1, 0, len(raw), raw)]):
            yield from (Finding("unnamed key", f"registry {path}") for path, _ in drift.strays(piece))
            if piece.reading != "read":
                yield Finding(f"{piece.why}:", "registry")


def check_client(agent: str, version: str) -> PlayedClient:
    """Play every scenario with one release and collect its findings."""
    with tempfile.TemporaryDirectory(prefix="lab-drift-") as root:
        runs = _play_all(agent, version, Path(root))
        counts: Counter[tuple[str, str]] = Counter()
        seen_in: dict[tuple[str, str], list[str]] = {}
        for run in runs:
            odd = [] if run.as_told else [Finding("odd ending", run.summary())]
            for finding in [*drift_of(run), *odd]:
                counts[finding[:2]] += finding.times
                seen_in.setdefault(finding[:2], []).append(run.scenario.name)
        n_lines = sum(1 for run in runs for _ in run.lines())
    findings = [(Finding(*key, counts[key]), names) for key, names in sorted(seen_in.items())]
    return PlayedClient(agent, version, len(runs), n_lines, findings)


def _play_all(agent: str, version: str, root: Path) -> list[LabRun]:
    program = install(agent, version)
    with ThreadPoolExecutor(2) as pool:
        return list(
            pool.map(
                lambda s: play(agent, program, version, s, root=root / s.name), scenarios_for(agent, version)
            )
        )


def as_text(played: PlayedClient) -> str:
    """Report of one client for a terminal."""
    status = "verified" if played.version == CURRENT[played.agent] else f"verified: {CURRENT[played.agent]}"
    lines = [f"{played.agent} {played.version} ({status})"]
    for finding, names in played.findings:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        lines.append(f"  {finding}: {names[0]}{more}")
    lines.append(
        f"  {played.n_scenarios} scenarios, {played.n_lines:,} lines, {len(played.findings)} findings"
    )
    return "\n".join(lines)


def as_markdown(clients: Sequence[PlayedClient]) -> str:
    """Report of all clients as a Markdown table, for the nightly issue."""
    lines = ["| client | verified | found | what | count | seen in |", "|---|---|---|---|---|---|"]
    for one in clients:
        head = f"| {one.agent} {one.version} | {CURRENT[one.agent]} |"
        lines += [
            f"{head} {found.what} | `{found.name.replace('|', ' ')}` | {found.times} | {', '.join(names[:3])} |"
            for found, names in one.findings
        ] or [f"{head} nothing unknown | | 0 | {one.n_scenarios} scenarios |"]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check both clients; print one report each."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.drift", description=__doc__)
    for agent in PACKAGES:
        parser.add_argument(f"--{agent}", metavar="VERSION", help="release to play (default: newest on npm)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table to FILE")
    options = parser.parse_args(arguments)
    played = []
    try:
        for agent, package in PACKAGES.items():
            version = getattr(options, agent) or newest_on_npm(package)
            print(f"playing {agent} {version} …", file=sys.stderr, flush=True)
            played.append(check_client(agent, version))
            print(as_text(played[-1]), flush=True)
    except Unobtainable as reason:
        print(f"drift: {reason}", file=sys.stderr)
        return 2
    if options.markdown:
        options.markdown.write_text(as_markdown(played))
    return 1 if any(client.findings for client in played) else 0


if __name__ == "__main__":
    sys.exit(main())
