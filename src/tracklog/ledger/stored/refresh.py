"""Bring the ledger in the index up to date with the logs that the index knows.

Rules
  1. A log is searched by the same scan as without an index, so both agree. It is searched again only if its bytes are
     others, or what the scan knows beside them.
  2. What was settled before is kept, except for the components of logs that changed: those that share requests, a session
     or a history with them, over any number of steps.
  3. Blocks are kept as soon as they are made; what they come to is written in one transaction.
  4. A log that cannot be read for a reason that may pass is read from the archive. If that has it not, it counts as it
     did before, and is not settled: it is tried again before each answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection
from typing import NamedTuple

from tracklog.agents.supported import SUPPORTED
from tracklog.ledger.ledger import Ledger, give_to_eldest, marks_of, packed, unpacked
from tracklog.ledger.owners import parents_in
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.scan import OnBytes, Work, blocks_of, sources_of, with_shared_usage
from tracklog.ledger.stored import tables
from tracklog.ledger.stored.freshness import is_settled, state_with
from tracklog.ledger.stored.rows import LedgerInRows, components_of, ledger_of, steps_of
from tracklog.ledger.stored.tables import DAMAGED, UNREAD, BlockMark, EntryRow, LogNow, SettledLog
from tracklog.ledger.stored.tables_costs import put_costs, stored_costs
from tracklog.ledger.stored.tables_names import has_unnamed, name_requests
from tracklog.ledger.stored.tables_sums import Pile, put_sums
from tracklog.model.usage import Source, UsageBlock
from tracklog.reading.family import families
from tracklog.reading.session_files import SessionFiles
from tracklog.sources.files import can_be_opened
from tracklog.sources.gc_pause import no_collecting
from tracklog.sources.log_file import LogFile
from tracklog.store.database import Database
from tracklog.store.scope import Files

_AT_ONCE = 256  # blocks in one transaction
_UNCOUNTED = SettledLog(0, 0, 0, "", "", "", "", is_main=False, is_counted=False, component=0)


def settle_ledger(
    database: Database,
    sessions: Sequence[SessionFiles],
    prices: Prices,
    *,
    with_tools: bool = False,
    on_plan: OnBytes | None = None,
    on_bytes: OnBytes | None = None,
) -> bool:
    """Scan the logs that changed, and settle their components. Return whether there were any.

    `sessions` are all that the index knows. Blocks that were put into the index before are taken as they are.
    """
    if is_settled(database.db, prices, with_tools=with_tools):
        return False
    with no_collecting():
        known = _Known.of(database, sessions)
        changed = known.changed(all_are=not _is_of(database, prices))
        asked = changed | known.without_tools() if with_tools else changed
        work = Work(known.near(asked, sessions), "ours", with_tools=with_tools)
        stale = known.stale(work, with_tools=with_tools)
        if on_plan is not None:
            on_plan(_size(work, stale))
        scanned = _scan(database, known, work, stale, with_tools=with_tools, on_bytes=on_bytes)
        _settle(database, known, sessions, prices, changed=changed | scanned.ids, unread=scanned.unread)
        name_all(database)
    return True


def name_all(database: Database) -> None:
    """Call the requests of the ledger as their sessions do."""
    if has_unnamed(database.db):
        with database.transaction() as db:
            name_requests(db)


def blocks_read(
    work: Work, session: SessionFiles, numbers: Mapping[str, int]
) -> Iterator[tuple[int, bytes, bytes]]:
    """Of each log of a session its number in the index, the inputs of its block, and the block, packed.

    For readers in another process; `work` has all sessions with which it shares a history. The writer puts them into the
    index with `put_read_block`.
    """
    ours = {str(file.path) for file in session.files}
    for number, (source, _) in enumerate(work.files):
        if source.path in ours and source.path in numbers:
            block = work.read(number)
            if not block.is_transient:
                yield numbers[source.path], work.inputs(number), packed(block)


@dataclass
class _Known:
    """The logs and blocks that the index knows."""

    now: dict[str, LogNow]
    settled: dict[int, SettledLog]
    marks: dict[int, BlockMark]
    sources: dict[int, Source]  # of the logs that count
    files: dict[int, LogFile]
    ids: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, database: Database, sessions: Sequence[SessionFiles]) -> _Known:
        """Load everything but the blocks themselves."""
        db = database.db
        now = tables.logs_now(db)
        named = [
            (now[source.path].file, source, file)
            for source, file in sources_of(sessions)
            if source.path in now
        ]
        return cls(
            now,
            tables.settled_logs(db),
            tables.block_marks(db),
            {id: source for id, source, _ in named},
            {id: file for id, _, file in named},
            {source.path: id for id, source, _ in named},
        )

    def changed(self, *, all_are: bool) -> set[int]:
        """The logs that are not as they were when the ledger was settled."""
        found = {id for id, source in self.sources.items() if all_are or not self._is_same(id, source)}
        return found | {id for id, log in self.settled.items() if log.is_counted and id not in self.sources}

    def _is_same(self, id: int, source: Source) -> bool:
        log = self.settled.get(id)
        if log is None or not log.is_counted or log[3:8] != tuple(source):
            return False
        return (log.generation, log.contents_bytes) == self.now[source.path][1:]

    def without_tools(self) -> set[int]:
        """The logs whose blocks do not say which tools were called."""
        return {id for id, mark in self.marks.items() if id in self.sources and not mark.has_tools}

    def near(self, changed: set[int], sessions: Sequence[SessionFiles]) -> list[SessionFiles]:
        """The sessions of these logs, and those whose blocks may depend on them."""
        names = {self.sources[id][1:3] for id in changed if id in self.sources}
        names |= {self.settled[id][4:6] for id in changed if id in self.settled}
        components = {self.settled[id].component for id in changed if id in self.settled}
        sharing = {name for name, agent in SUPPORTED.items() if agent.usage.shares_usage_in_family}
        names |= {
            log[4:6] for log in self.settled.values() if log.component in components and log.agent in sharing
        }
        families = _families(sessions) if any(agent in sharing for agent, _ in names) else {}
        kin = {families[name] for name in names if name in families}
        names |= {name for name, family in families.items() if family in kin}
        return [session for session in sessions if (session.agent, session.id) in names]

    def stale(self, work: Work, *, with_tools: bool) -> dict[int, bytes]:
        """The logs whose block is missing or of other bytes or inputs, by their numbers there, with the inputs."""
        found: dict[int, bytes] = {}
        for number, (source, _) in enumerate(work.files):
            inputs = work.inputs(number)
            if source.path in self.ids and not self._has_block(source.path, inputs, with_tools=with_tools):
                found[number] = inputs
        return found

    def counted_before(self, now: LogNow) -> bool:
        """Whether there is a block of this log as it was when it was read before."""
        mark = self.marks.get(now.file)
        return mark is not None and mark.generation == now.generation and mark.contents_bytes != UNREAD

    def _has_block(self, path: str, inputs: bytes, *, with_tools: bool) -> bool:
        mark, now = self.marks.get(self.ids[path]), self.now[path]
        if mark is None or (with_tools and not mark.has_tools):
            return False
        return (mark.generation, mark.contents_bytes, mark.inputs) == (*now[1:], inputs)


def _is_of(database: Database, prices: Prices) -> bool:
    """Whether the ledger was settled by the same scan and at the same prices."""
    state = tables.state_of(database.db)
    return all(state.get(name) == value for name, value in state_with(prices).items())


class _Scanned(NamedTuple):
    """The logs of which blocks were made, and why some of them could not be read now."""

    ids: set[int]
    unread: dict[int, str]


def _scan(
    database: Database,
    known: _Known,
    work: Work,
    stale: Mapping[int, bytes],
    *,
    with_tools: bool,
    on_bytes: OnBytes | None,
) -> _Scanned:
    """Make blocks; return of which logs."""
    waiting: list[tuple[int, UsageBlock, BlockMark]] = []
    done = _Scanned(set(), {})
    for block in _blocks(work, stale, on_bytes):
        path = work.files[block.file][0].path
        if block.file not in stale:
            continue
        now = known.now[path]
        done.ids.add(now.file)
        contents_bytes = now.contents_bytes
        if block.is_transient:
            done.unread[now.file] = block.problem or ""
            if known.counted_before(now):
                continue
            contents_bytes = UNREAD
        waiting.append(
            (now.file, block, BlockMark(now.generation, contents_bytes, with_tools, stale[block.file]))
        )
        if len(waiting) == _AT_ONCE:
            _keep(database, waiting)
    _keep(database, waiting)
    return done


def _size(work: Work, numbers: Iterable[int]) -> int:
    return sum(work.files[number][1].size for number in numbers)


def _blocks(work: Work, stale: Iterable[int], on_bytes: OnBytes | None) -> Iterator[UsageBlock]:
    """Where most must be read, two processes read all."""
    numbers = sorted(stale)
    if 2 * _size(work, numbers) > work.size:
        yield from blocks_of(work, on_bytes)
        return
    for number in numbers:
        yield work.read(number)
        if on_bytes is not None:
            on_bytes(work.files[number][1].size)


def _keep(database: Database, waiting: list[tuple[int, UsageBlock, BlockMark]]) -> None:
    if not waiting:
        return
    with database.transaction() as db:
        for id, block, mark in waiting:
            tables.put_block(db, id, packed(block), mark)
    waiting.clear()


def _settle(
    database: Database,
    known: _Known,
    sessions: Sequence[SessionFiles],
    prices: Prices,
    *,
    changed: set[int],
    unread: Mapping[int, str],
) -> None:
    families = _families(sessions)
    with database.transaction() as db:
        affected = _affected(db, known, families, changed)
        ids = sorted((id for id in affected if id in known.sources), key=lambda id: known.sources[id].path)
        numbers = {id: n for n, id in enumerate(ids)}
        blocks = [unpacked(body, numbers[id]) for id, body in tables.bodies(db, ids)]
        sources = [known.sources[id] for id in ids]
        tops = [ids[n] for n in components_of(sources, blocks, families)]
        ledger = ledger_of(sources, blocks)
        parents = parents_in(ledger, sessions) if ledger.elsewhere else {}
        give_to_eldest(ledger, parents)
        tables.drop_settled(
            db, affected, {known.settled[id].component for id in affected if id in known.settled}
        )
        tables.drop_blocks(db, [id for id in affected if id not in known.sources])
        _put(db, LedgerInRows(ledger, ids, prices), tops, prices)
        tables.put_parents(db, _parents(parents, sources, tops))
        logs = _logs(known, ledger, ids, tops)
        tables.put_logs(db, (_as_unread(log, unread.get(log.file), known.files) for log in logs))
        tables.put_logs(db, _uncounted(known))
        tables.put_state(db, state_with(prices))
        _put_costs(db, known, affected, prices)


def _affected(
    db: Connection, known: _Known, families: Mapping[tuple[str, str], str], changed: set[int]
) -> set[int]:
    """The logs of all components that hold one of these, or come to hold one now."""
    bodies = tables.bodies(db, [id for id in changed if id in known.sources])
    touched = set(changed)
    for id, body in bodies:
        marks = marks_of(unpacked(body, id))
        touched |= tables.holders_of(db, marks)
        tables.put_keys(db, id, marks)
    names = {_name(known.sources[id], families) for id in touched if id in known.sources}
    touched |= {id for id, source in known.sources.items() if _name(source, families) in names}
    components = {known.settled[id].component for id in touched if id in known.settled}
    return touched | {id for id, log in known.settled.items() if log.component in components}


def _name(source: Source, families: Mapping[tuple[str, str], str]) -> str:
    return families.get((source.agent, source.session), source.session)


def _put(db: Connection, rows: LedgerInRows, tops: Sequence[int], prices: Prices) -> None:
    pile = Pile(steps_of(prices))

    def entries() -> Iterator[EntryRow]:
        for entry in rows.entries():
            pile.add(entry)
            yield entry

    tables.put_entries(db, entries())
    rows.wait(pile)
    put_sums(db, pile)
    tables.put_totals(db, rows.totals(tops))


def _put_costs(db: Connection, known: _Known, affected: set[int], prices: Prices) -> None:
    """Store what the sessions of some logs cost, whole components of them."""
    now = {id: known.sources[id].session for id in affected if id in known.sources}
    files = (
        None
        if len(now) == len(known.sources)
        else Files(frozenset(now), frozenset(now.values()), is_closed=True)
    )
    before = {known.settled[id].session for id in affected if id in known.settled}
    put_costs(db, stored_costs(db, prices, files=files) if now else {}, gone=before | set(now.values()))


def _parents(
    parents: Mapping[str, str], sources: Sequence[Source], tops: Sequence[int]
) -> list[tuple[str, int, str]]:
    component_of = {source.session: top for source, top in zip(sources, tops, strict=True)}
    return [(session, component_of[session], parent) for session, parent in parents.items()]


def _logs(known: _Known, ledger: Ledger, ids: Sequence[int], tops: Sequence[int]) -> Iterator[SettledLog]:
    for n, (id, top) in enumerate(zip(ids, tops, strict=True)):
        source = known.sources[id]
        now = known.now[source.path]
        yield SettledLog(
            now.file,
            now.generation,
            now.contents_bytes,
            source.path,
            source.agent,
            source.session,
            source.thread,
            source.is_main,
            is_counted=True,
            component=top,
            cwd=ledger.cwds.get(n),
            problem=ledger.problems.get(n),
        )


def _as_unread(log: SettledLog, why: str | None, files: Mapping[int, LogFile]) -> SettledLog:
    """A log that could not be read now, marked so that it does not count as settled."""
    if why is None:
        return log
    file = files[log.file]
    is_damaged = file.stored is not None and can_be_opened(file)
    return log._replace(contents_bytes=DAMAGED if is_damaged else UNREAD, problem=why)


def _uncounted(known: _Known) -> Iterator[SettledLog]:
    """Logs of which nothing is read are noted, too: else they would seem to be new each time."""
    for path, now in known.now.items():
        if now.file not in known.sources:
            yield _UNCOUNTED._replace(**now._asdict(), path=path, component=now.file)


def _families(sessions: Sequence[SessionFiles]) -> dict[tuple[str, str], str]:
    """The sessions that share usage in a family, each with a name for all of them."""
    sharing = with_shared_usage(sessions)
    if not any(session.sources for session in sharing):
        return {}

    return {name: min(one.id for one in kin.sessions) for name, kin in families(sharing).items()}
