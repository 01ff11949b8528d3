"""What `tracklog doctor` says, asked beside: it reads all logs, and no page waits for that.

Rules of this room
  1. It is the command itself, in a process of its own: what is shown is what it says, word for word.
  2. One at a time, when somebody looks, and not again within minutes: of much it takes a small part of the time.
  3. What was said last stands until it is said anew, with when that was.

How things stand with logs, archive and prices, as far as the index tells: no log is read for it.

What a check of `tracklog doctor` found.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Literal, NamedTuple

from tracklog.agents.base import Retention
from tracklog.agents.roots import default_roots
from tracklog.agents.supported import support_for
from tracklog.archive.tables import folders_of
from tracklog.home import Home
from tracklog.index.tables_health import (
    AgentHealth,
    ArchiveSums,
    LogTrouble,
    archive_sums,
    health_by_agent,
    old_transcripts,
    requests_by_model,
    troubled_logs,
)
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.pricing import terms_of
from tracklog.ledger.stored.tables_sums import QUARTER_MS
from tracklog.reading.survey import Coverage
from tracklog.sources.log_file import Agent, FileKind, LogFile, Root
from tracklog.store.database import Database
from tracklog.store.scope import Scope

_DAY_NS = 86_400_000_000_000
SOON_DAYS = 7
_MOST_TROUBLED = 50


class DueDeletion(NamedTuple):
    """A session that its agent is about to delete."""

    session: str
    path: str
    at_ns: int  # from when on
    is_archived: bool


AgentHome = tuple[Agent, Path]


class Health(NamedTuple):
    """What the index tells."""

    agents: list[AgentHealth]
    n_troubled: int
    troubled: list[LogTrouble]
    archive: ArchiveSums
    due: list[DueDeletion]  # the next one first
    unpriced: list[tuple[str, int]]  # models without a price, and how many requests each answered


def health(database: Database, scope: Scope, prices: Prices, *, roots: Iterable[Root], now_ns: int) -> Health:
    """How things stand now; `roots` are the homes whose clients may delete logs."""
    db = database.db
    n_troubled, troubled = troubled_logs(db, scope, most=_MOST_TROUBLED)
    return Health(
        agents=health_by_agent(db, scope),
        n_troubled=n_troubled,
        troubled=troubled,
        archive=archive_sums(db),
        due=due(database, scope, roots=roots, now_ns=now_ns),
        unpriced=unpriced(database, prices),
    )


def due(database: Database, scope: Scope, *, roots: Iterable[Root], now_ns: int) -> list[DueDeletion]:
    """The sessions that their client deletes within some days, the next one first."""
    within_ns, found = now_ns + SOON_DAYS * _DAY_NS, list[DueDeletion]()
    kept = retentions(roots, lambda agent: map(Path, folders_of(database.db, agent)))
    days_of = {key: rule.days for key, rule in kept.items() if rule.why_paused is None}
    for name in dict.fromkeys(agent for agent, _ in days_of):
        shortest = min(days for (agent, _), days in days_of.items() if agent == name)
        for log in old_transcripts(database.db, scope, agent=name, before_ns=within_ns - shortest * _DAY_NS):
            days = days_of.get((name, Path(log.root)))
            if days is not None and (at_ns := log.mtime_ns + days * _DAY_NS) < within_ns:
                session = log.session or Path(log.path).stem
                found.append(DueDeletion(session, log.path, at_ns, log.is_archived))
    return sorted(found, key=lambda one: (one.at_ns, one.session))


def retentions(
    roots: Iterable[Root], projects_of: Callable[[Agent], Iterable[Path]]
) -> dict[AgentHome, Retention]:
    """For how long the clients keep logs in their homes, as far as they delete any.

    `projects_of` gives the folders in which an agent was started: the settings there count, too.
    """
    found: dict[AgentHome, Retention] = {}
    for root in roots:
        if root.agent is not None:
            logs = support_for(root.agent).logs
            kept = logs.retention(root.path, projects=projects_of(root.agent))
            if kept is not None:
                found[root.agent, root.path] = kept
    return found


def deletions(
    files: Iterable[LogFile], kept: Mapping[AgentHome, Retention], *, now_ns: int
) -> list[DueDeletion]:
    """The same for logs as they were found; nothing is known of the archive."""
    found = []
    for file in files:
        rule = kept.get((file.agent, file.root)) if file.agent is not None else None
        if rule is None or rule.why_paused or file.kind is not FileKind.TRANSCRIPT:
            continue
        at_ns = file.mtime_ns + rule.days * _DAY_NS
        if at_ns < now_ns + SOON_DAYS * _DAY_NS:
            found.append(DueDeletion(file.session or file.path.stem, str(file.path), at_ns, False))
    return sorted(found, key=lambda one: (one.at_ns, one.session))


def unpriced(database: Database, prices: Prices) -> list[tuple[str, int]]:
    """The models that have no price, the most asked first."""
    found: Counter[str] = Counter()
    for model, terms, n, quarter in requests_by_model(database.db):
        if prices.rates(model, quarter * QUARTER_MS, terms_of(terms)) is None:
            found[model or "(no model is said)"] += n
    return found.most_common()


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "warn", "fail"]
    evidence: str
    advice: str = ""


_AGAIN_S = 180.0
_SHARE = 20  # of the time it takes at most one part in so many
_LOWEST = 10
_LONGEST_S = 3600.0


class Said(NamedTuple):
    """What the doctor said."""

    document: dict[str, Any]
    at_ms: int
    took_s: float


class SurveyState(NamedTuple):
    """How far it is."""

    said: Said | None = None
    began_ms: int | None = None  # None: it does not look just now
    failure: str | None = None


class DoctorSurvey:
    """Asks the doctor now and then."""

    def __init__(self, home: Home, roots: Sequence[Root]) -> None:
        self._command = [sys.executable, "-P", "-m", "tracklog", "doctor", "--json", "--home", str(home.path)]
        self._command += _root_options(roots)
        self._lock = Lock()
        self._state = SurveyState()
        self._again_at = 0.0
        self._child: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def state(self) -> SurveyState:
        """What is known; looks again if that is too old."""
        with self._lock:
            if self._state.began_ms is None and time.monotonic() >= self._again_at:
                self._state = self._state._replace(began_ms=_now_ms())
                Thread(target=self._run, name="doctor", daemon=True).start()
            return self._state

    def close(self) -> None:
        """Ends a look that goes on."""
        child = self._child
        if child is not None and child.poll() is None:
            child.terminate()

    def _run(self) -> None:
        began = time.monotonic()
        document, failure = self._asked()
        took_s = time.monotonic() - began
        said = None if document is None else Said(document, _now_ms(), took_s)
        with self._lock:
            self._again_at = time.monotonic() + max(_AGAIN_S, took_s * _SHARE)
            self._state = SurveyState(said or self._state.said, None, failure)

    def _asked(self) -> tuple[dict[str, Any] | None, str | None]:
        """The document, or why there is none."""
        try:
            self._child = child = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            with suppress(OSError):  # it may be over already
                os.setpriority(os.PRIO_PROCESS, child.pid, _LOWEST)
            out, err = child.communicate(timeout=_LONGEST_S)
        except OSError as error:
            return None, f"cannot start a process: {error.strerror}"
        except subprocess.TimeoutExpired:
            self.close()
            return None, f"it took longer than {_LONGEST_S / 60:.0f} minutes"
        try:
            document: dict[str, Any] = json.loads(out)
        except ValueError:
            words = err.decode("utf-8", "replace").strip().splitlines()
            return None, words[-1] if words else f"it ended with {child.returncode} and said nothing"
        return document, None


def _root_options(roots: Sequence[Root]) -> list[str]:
    """The same folders; none are named where it looks in the same by itself, so that its advice is as short."""
    if list(roots) == default_roots(os.environ):
        return []
    folders = dict.fromkeys(str(root.path / root.part if root.part else root.path) for root in roots)
    return [word for folder in folders for word in ("--root", folder)]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


READINGS = ("read", "unknown", "broken")


@dataclass(slots=True)
class Share:
    """Some lines of one agent: how many there are, and how they were read."""

    agent: str | None
    name: str
    lines: dict[str, int] = field(default_factory=lambda: dict.fromkeys(READINGS, 0))
    bytes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(READINGS, 0))

    @property
    def all_lines(self) -> int:
        """Lines of any reading."""
        return sum(self.lines.values())

    @property
    def all_bytes(self) -> int:
        """Bytes of any reading."""
        return sum(self.bytes.values())

    def add(self, row: Coverage) -> None:
        """Counts a row of the survey."""
        self.lines[row.reading] += row.lines
        self.bytes[row.reading] += row.bytes


def shares(rows: Iterable[Coverage], *, by: Callable[[Coverage], str]) -> list[Share]:
    """The rows summed by agent and name; known agents first, and of each the largest first."""
    summed: dict[tuple[str | None, str], Share] = {}
    for row in rows:
        key = (row.agent, by(row))
        summed.setdefault(key, Share(*key)).add(row)
    return sorted(summed.values(), key=lambda s: (s.agent is None, s.agent or "", -s.all_lines, s.name))


def by_agent(rows: Iterable[Coverage]) -> list[Share]:
    """One share per agent."""
    return shares(rows, by=lambda row: row.agent or "unknown agent")


def versions_of(rows: Iterable[Coverage], agent: str | None) -> list[str]:
    """The client versions that wrote an agent's lines, oldest first."""
    return sorted({row.version for row in rows if row.agent == agent and row.version}, key=version_key)


def version_key(version: str) -> list[tuple[int, str]]:
    """Sorts `2.1.9` before `2.1.10`, and survives whatever a log calls a version."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in version.split(".")]
