"""Which sessions their agents are about to delete, by the logs that were found or by those that the index knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from tracklog.agents.base import Retention
from tracklog.agents.supported import support_for
from tracklog.app.doctor.checks import Check
from tracklog.home import tilde
from tracklog.index.tables_health import old_transcripts
from tracklog.model.wording import count
from tracklog.sources.log_file import Agent, FileKind, LogFile, Root
from tracklog.store.database import Database
from tracklog.store.scope import Scope

_DAY_NS = 86_400_000_000_000
SOON_DAYS = 7


class DueDeletion(NamedTuple):
    """A session that its agent is about to delete."""

    session: str
    path: str
    at_ns: int  # from when on
    is_archived: bool


AgentHome = tuple[Agent, Path]


def deletions_in_index(
    database: Database, scope: Scope, kept: Mapping[AgentHome, Retention], *, now_ns: int
) -> list[DueDeletion]:
    """The sessions that their client deletes within some days, the next one first."""
    within_ns, found = now_ns + SOON_DAYS * _DAY_NS, list[DueDeletion]()
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
    files: Iterable[LogFile],
    kept: Mapping[AgentHome, Retention],
    *,
    now_ns: int,
    archived: Set[str] = frozenset(),
) -> list[DueDeletion]:
    """The same for logs as they were found; `archived` are the paths of those that the archive holds."""
    found = []
    for file in files:
        rule = kept.get((file.agent, file.root)) if file.agent is not None else None
        if rule is None or rule.why_paused or file.kind is not FileKind.TRANSCRIPT:
            continue
        at_ns = file.mtime_ns + rule.days * _DAY_NS
        if at_ns < now_ns + SOON_DAYS * _DAY_NS:
            path = str(file.path)
            found.append(DueDeletion(file.session or file.path.stem, path, at_ns, path in archived))
    return sorted(found, key=lambda one: (one.at_ns, one.session))


def deletion_check(
    due: Sequence[DueDeletion],
    kept: Mapping[AgentHome, Retention],
    agents: Iterable[Agent | None],
    *,
    roots: str = "",
) -> Check:
    """Whether a session is about to be deleted of which there is no copy; `agents` are those whose homes are there."""
    paused = next((one for one in kept.values() if one.why_paused), None)
    if paused is not None:
        evidence = f"cleanupPeriodDays in {tilde(paused.said_by or '')}: {paused.why_paused}"
        return Check("deletion", "warn", evidence, "set it to the number of days to keep, 3650 for ten years")
    if not due:
        return Check("deletion", "ok", _nothing_due(agents, kept))
    lost = [one for one in due if not one.is_archived]
    evidence = f"{_due(due, kept)}{'' if lost else '; the archive has them all'}"
    if not lost:
        return Check("deletion", "ok", evidence)
    only = "" if len(lost) == len(due) else f"; {count(len(lost), 'session')} of them not in the archive"
    return Check("deletion", "warn", evidence + only, f"tracklog index{roots} keeps copies of them")


def _nothing_due(agents: Iterable[Agent | None], kept: Mapping[AgentHome, Retention]) -> str:
    if not kept:
        names = _labels(agent for agent in agents if agent is not None)
        return f"{names} deletes no sessions by itself" if names else "no agent deletes logs there"
    days = min(one.days for one in kept.values())
    names = _labels(agent for agent, _ in kept)
    return f"nothing within {SOON_DAYS} days: {names} keeps sessions for {count(days, 'day')}"


def _due(due: Sequence[DueDeletion], kept: Mapping[AgentHome, Retention]) -> str:
    next_one = datetime.fromtimestamp(due[0].at_ns // 10**9, UTC)
    when, names = f"{next_one:%Y-%m-%d %H:%M}", _labels(agent for agent, _ in kept)
    return f"{names} deletes {count(len(due), 'session')} within {SOON_DAYS} days, the next at its start after {when}"


def _labels(agents: Iterable[Agent]) -> str:
    return " and ".join(support_for(agent).label for agent in dict.fromkeys(agents))
