"""Tables of the ledger: the block of each log, which logs share requests, and the merged requests.

Rules
  1. A block is what one log says. It is stale when the log has other bytes, or when it was made from other inputs.
  2. Logs of one component are settled together: all rows made from them are deleted and written again.
  3. Which logs are settled can be queried without reading a block.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tracklog.ledger.prices.rates import Prices, cost_pico_usd
from tracklog.ledger.pricing import terms_of
from tracklog.model.usage import STANDARD, Tokens
from tracklog.store.scope import Files, Scope
from tracklog.store.surrogates import as_text, storable

_ASKED = (
    "select id, at_ms, model, terms, beside, input, output, reasoning, cache_write, cache_write_5m, cache_write_1h, "
    "cache_read, web_searches, certainty = 'missing' from entry_rows"
)


def entry_costs(db: sqlite3.Connection, prices: Prices) -> Iterator[tuple[int, int | None]]:
    """The numbers of all requests, each with its cost in pico-dollars; None: without a price, or without a count."""
    for id, at_ms, model, terms, beside, *figures, is_missing in db.execute(_ASKED):
        if is_missing:
            yield id, None
            continue
        rates = prices.rates(model, at_ms, terms_of(terms))
        cost = None if rates is None else cost_pico_usd(Tokens(*figures), rates)
        if cost is not None and beside is not None:
            cost += _of_advisors(prices, beside, at_ms)
        yield id, cost


def _of_advisors(prices: Prices, beside: str, at_ms: int | None) -> int:
    """Cost of the models that were asked within a request."""
    cost = 0
    for what, model, figures in json.loads(beside):
        rates = prices.rates(model, at_ms, STANDARD) if what == "advisor" else None
        if rates is not None:
            cost += cost_pico_usd(Tokens(*figures), rates)
    return cost


DAMAGED = -2  # bytes of a log of which only a damaged copy is left: counted again when it is back
UNREAD = -1  # bytes of a log that must be counted again although it is as long as it was
_THREADS = "('transcript', 'document', 'subagent')"  # the kinds of logs that hold requests


class LogNow(NamedTuple):
    """A log as the index knows it now."""

    file: int
    generation: int
    contents_bytes: int


class SettledLog(NamedTuple):
    """A log as the ledger was last settled with it."""

    file: int
    generation: int
    contents_bytes: int
    path: str
    agent: str
    session: str
    thread: str
    is_main: bool
    is_counted: bool
    component: int
    cwd: str | None = None
    problem: str | None = None


class BlockMark(NamedTuple):
    """The inputs of a block."""

    generation: int
    contents_bytes: int
    has_tools: bool
    inputs: bytes


class EntryRow(NamedTuple):
    """A request, all that is known of it joined; as a row of `entry_rows`, without its number."""

    file: int
    key: str
    agent: str
    session: str
    thread: str
    at_ms: int | None
    model: str | None
    terms: str
    entrypoint: str | None
    certainty: str
    input: int
    output: int
    reasoning: int
    cache_write: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    web_searches: int
    counted_file: int
    counted_offset: int
    stated_pico_usd: int | None = None
    tools: str | None = None
    beside: str | None = None
    inherited_by: str | None = None


class TotalRow(NamedTuple):
    """The client's own totals of a session, compared with its log."""

    session: str
    component: int
    hidden: bytes
    stated_pico_usd: int | None = None
    stated_requests: int | None = None


def logs_now(db: sqlite3.Connection) -> dict[str, LogNow]:
    """The logs that may hold requests, by path."""
    rows = db.execute(
        "select path, id, generation, contents_bytes from log_files "
        f"where state <> 'past' and kind in {_THREADS}"
    )
    return {as_text(path): LogNow(*rest) for path, *rest in rows}


def is_settled(db: sqlite3.Connection) -> bool:
    """Whether the ledger was settled with the logs as they are now, or could not read them (`unread_logs`)."""
    is_tried = f"settled.contents_bytes = {UNREAD} and settled.problem is not null and log.state = 'here'"
    is_worn = f"settled.contents_bytes = {DAMAGED} and log.state = 'kept'"
    n_bytes = f"case when {is_tried} then {UNREAD} when {is_worn} then {DAMAGED} else log.contents_bytes end"
    of_no_session = (
        "settled.is_counted or (select coalesce(session, '') = '' from log_files where id = log.id)"
    )
    of_log = f"log.id, log.generation, {n_bytes}, log.path, 1"
    of_ledger = f"settled.file, settled.generation, settled.contents_bytes, settled.path, {of_no_session}"
    n_logs, are_same, n_settled = db.execute(
        f"select count(*), min(coalesce(({of_log}) = ({of_ledger}), 0)), (select count(*) from ledger_logs) "
        "from log_files log indexed by log_files_at_a_glance "
        "left join ledger_logs settled on settled.file = log.id "
        f"where log.state <> 'past' and log.kind in {_THREADS}"
    ).fetchone()
    return bool(n_logs == n_settled and are_same != 0)


def unread_logs(db: sqlite3.Connection) -> list[str]:
    """The paths of the logs that could not be read when they were counted, for a reason that may pass."""
    rows = db.execute(
        f"select path from ledger_logs where contents_bytes = {UNREAD} and problem is not null and is_counted"
    )
    return [as_text(path) for (path,) in rows]


def has_tools(db: sqlite3.Connection) -> bool:
    """Whether every block says which tools were called."""
    found = db.execute(
        "select 1 from blocks join ledger_logs using (file) where is_counted and not has_tools"
    )
    return found.fetchone() is None


def settled_logs(db: sqlite3.Connection) -> dict[int, SettledLog]:
    """The logs that the ledger was settled with."""
    rows = db.execute(f"select {', '.join(SettledLog._fields)} from ledger_logs")
    return {row[0]: SettledLog._make(map(as_text, row) if bytes in map(type, row) else row) for row in rows}


def block_marks(db: sqlite3.Connection) -> dict[int, BlockMark]:
    """The inputs of all blocks."""
    rows = db.execute("select file, generation, contents_bytes, has_tools, inputs from blocks")
    return {
        file: BlockMark(generation, n, bool(tools), inputs) for file, generation, n, tools, inputs in rows
    }


def put_block(db: sqlite3.Connection, file: int, body: bytes, mark: BlockMark) -> None:
    """Replace the block of a log."""
    db.execute("insert or replace into blocks values (?, ?, ?, ?, ?, ?)", (file, *mark, body))


def put_read_block(db: sqlite3.Connection, file: int, *, inputs: bytes, body: bytes) -> None:
    """Replace the block of a log that was just read and is already registered."""
    row = db.execute("select generation, contents_bytes from log_files where id = ?", (file,)).fetchone()
    if row is not None:
        generation, contents_bytes = row
        put_block(db, file, body, BlockMark(generation, contents_bytes, has_tools=False, inputs=inputs))


def bodies(db: sqlite3.Connection, files: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """The blocks of some logs, packed."""
    listed = json.dumps(sorted(files))
    return db.execute(
        "select file, body from blocks where file in (select value from json_each(?)) order by file",
        (listed,),
    )


def all_bodies(db: sqlite3.Connection) -> Iterator[tuple[int, bytes]]:
    """The blocks of all logs that count, packed."""
    return db.execute(
        "select file, body from blocks where file in (select file from ledger_logs where is_counted)"
    )


def holders_of(db: sqlite3.Connection, keys: Iterable[int]) -> set[int]:
    """The logs that hold requests with one of these keys."""
    listed = json.dumps(list(keys))
    rows = db.execute(
        "select distinct file from block_keys where key in (select value from json_each(?))", (listed,)
    )
    return {file for (file,) in rows}


def put_keys(db: sqlite3.Connection, file: int, keys: set[int]) -> None:
    """Replace the keys of the requests of a log."""
    held = {key for (key,) in db.execute("select key from block_keys where file = ?", (file,))}
    gone, new = held - keys, keys - held
    db.executemany("delete from block_keys where key = ? and file = ?", [(key, file) for key in gone])
    db.executemany("insert into block_keys values (?, ?)", [(key, file) for key in sorted(new)])


def mark_unread(db: sqlite3.Connection, file: int) -> None:
    """Mark a log to be counted again although it did not grow."""
    db.execute(f"update ledger_logs set contents_bytes = {UNREAD} where file = ?", (file,))


def drop_blocks(db: sqlite3.Connection, files: Iterable[int]) -> None:
    """Delete the blocks of logs that are gone, or that do not count any more."""
    listed = [(file,) for file in files]
    for table in ("blocks", "block_keys"):
        db.executemany(f"delete from {table} where file = ?", listed)


def drop_settled(db: sqlite3.Connection, files: Iterable[int], components: Iterable[int]) -> None:
    """Delete all rows made from some logs, whole components of them."""
    of_logs, of_components = [(file,) for file in files], [(component,) for component in components]
    db.executemany(
        "delete from entry_requests where entry in (select id from entry_rows where file = ?)", of_logs
    )
    for table in ("ledger_logs", "entry_rows", "sum_rows"):
        db.executemany(f"delete from {table} where file = ?", of_logs)
    for table in ("total_rows", "parent_rows"):
        db.executemany(f"delete from {table} where component = ?", of_components)


def put_logs(db: sqlite3.Connection, logs: Iterable[SettledLog]) -> None:
    """Write the logs that the ledger is settled with."""
    marks = ", ".join("?" * len(SettledLog._fields))
    rows = [tuple(map(storable, log)) for log in logs]
    db.executemany(f"insert or replace into ledger_logs values ({marks})", rows)


def put_entries(db: sqlite3.Connection, entries: Iterable[EntryRow]) -> None:
    """Write requests."""
    marks = ", ".join("?" * len(EntryRow._fields))
    db.executemany(f"insert into entry_rows ({', '.join(EntryRow._fields)}) values ({marks})", entries)


def put_totals(db: sqlite3.Connection, totals: Iterable[TotalRow]) -> None:
    """Write the clients' totals."""
    db.executemany("insert or replace into total_rows values (?, ?, ?, ?, ?)", totals)


def put_parents(db: sqlite3.Connection, parents: Iterable[tuple[str, int, str]]) -> None:
    """Write sessions with their components and parents."""
    db.executemany("insert or replace into parent_rows values (?, ?, ?)", parents)


def totals_in(db: sqlite3.Connection) -> list[TotalRow]:
    """All of them, by session."""
    return [TotalRow(*row) for row in db.execute("select * from total_rows order by session")]


def parents_in(db: sqlite3.Connection) -> dict[str, str]:
    """From whom sessions descend that share requests with others."""
    return dict(db.execute("select session, parent from parent_rows"))


def state_of(db: sqlite3.Connection) -> dict[str, bytes]:
    """What the ledger was settled with, besides logs."""
    return dict(db.execute("select name, value from ledger_state"))


def put_state(db: sqlite3.Connection, state: Mapping[str, bytes]) -> None:
    """Write what the ledger is settled with now."""
    db.executemany("insert or replace into ledger_state values (?, ?)", list(state.items()))


def entries_at(db: sqlite3.Connection, first_ms: int, behind_ms: int) -> list[EntryRow]:
    """The requests of a time."""
    rows = db.execute(
        f"select {', '.join(EntryRow._fields)} from entry_rows where at_ms >= ? and at_ms < ?",
        (first_ms, behind_ms),
    )
    return [EntryRow(*row) for row in rows]


def entries_with_more(db: sqlite3.Connection) -> list[EntryRow]:
    """The requests in which another model was asked too, or that have copies elsewhere."""
    rows = db.execute(
        f"select {', '.join(EntryRow._fields)} from entry_rows "
        "where beside is not null or inherited_by is not null order by id"
    )
    return [EntryRow(*row) for row in rows]


def files_in(db: sqlite3.Connection, scope: Scope | None, agents: Sequence[str] | None) -> Files | None:
    """The logs of a scope that count; None: all that there are."""
    where, values = "is_counted", list[str]()
    if scope is not None:
        inside, values = scope.condition("path")
        where += f" and {inside}"
    if agents is not None:
        where += f" and agent in ({', '.join('?' * len(agents))})"
        values += agents
    n_all = db.execute("select count(*) from ledger_logs where is_counted").fetchone()[0]
    rows = db.execute(f"select count(*) from ledger_logs where {where}", values)
    if rows.fetchone()[0] == n_all:
        return None
    mine = db.execute(f"select file, component, session from ledger_logs where {where}", values).fetchall()
    files, components = {row[0] for row in mine}, {row[1] for row in mine}
    others = db.execute("select file, component from ledger_logs where is_counted").fetchall()
    is_closed = not any(component in components and file not in files for file, component in others)
    return Files(frozenset(files), frozenset(as_text(row[2]) for row in mine), is_closed)


def has_agent(db: sqlite3.Connection, agent: str) -> bool:
    """Whether a log of this agent counts."""
    found = db.execute("select 1 from ledger_logs where is_counted and agent = ? limit 1", (agent,))
    return found.fetchone() is not None


def sessions_in(db: sqlite3.Connection, files: Files | None) -> int:
    """Count the sessions that have logs that count, or some of these."""
    some = "" if files is None else "and file in (select value from json_each(?))"
    values = [] if files is None else [json.dumps(sorted(files.ids))]
    asked = f"select distinct agent, session from ledger_logs where is_counted {some}"
    return int(db.execute(f"select count(*) from ({asked})", values).fetchone()[0])


def problems_in(db: sqlite3.Connection) -> list[tuple[int, str, str]]:
    """The logs that could not be read to their end, with their paths, and why."""
    rows = db.execute(
        "select file, path, problem from ledger_logs where problem is not null and is_counted order by path"
    )
    return [(file, as_text(path), problem) for file, path, problem in rows]


def folders_in(db: sqlite3.Connection) -> dict[str, str]:
    """The folders in which sessions began, as they are listed."""
    rows = db.execute("select session, cwd from session_rows where cwd is not null")
    return {as_text(session): as_text(cwd) for session, cwd in rows}


def cwds_in(db: sqlite3.Connection) -> Iterator[tuple[int, str, str]]:
    """Logs with their sessions and folders: those of main threads first, in the order of their paths."""
    rows = db.execute(
        "select file, session, cwd from ledger_logs where cwd is not null and is_counted order by is_main desc, path"
    )
    return ((file, as_text(session), as_text(cwd)) for file, session, cwd in rows)
