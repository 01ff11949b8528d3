"""Tables of the known logs: how far each was read, which folders were listed, which sessions are kin."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tracklog.store.file_stamps import OUT_OF_REACH
from tracklog.store.surrogates import as_text, storable
from tracklog.store.values import FileRead, KnownFile

KNOWN_COLUMNS = KnownFile.__struct_fields__
_TEXTS = frozenset({"path", "root", "session", "own_session", "problem"})
UNREAD = -1  # the size of a log that was not read yet: it differs from that in any listing


def all_files(db: sqlite3.Connection, *, with_past: bool = False) -> list[KnownFile]:
    """Every log that the index knows."""
    which = "" if with_past else "where state <> 'past'"
    rows = db.execute(f"select {', '.join(KNOWN_COLUMNS)} from log_files {which} order by path")
    return [known_file(row) for row in rows]


def roots_of(db: sqlite3.Connection, agent: str) -> list[str]:
    """The homes and folders in which logs of an agent were found."""
    found = db.execute("select distinct root from log_files where agent = ? and state = 'here'", (agent,))
    return [as_text(root) for (root,) in found]


def known_file(row: Sequence[Any]) -> KnownFile:
    """A log from the columns of its row (KNOWN_COLUMNS)."""
    return KnownFile(**{name: _read(name, value) for name, value in zip(KNOWN_COLUMNS, row, strict=True)})


def _read(name: str, value: Any) -> Any:
    return as_text(value) if name in _TEXTS else value


def numbers(db: sqlite3.Connection) -> dict[str, int]:
    """The number of each log, by its path."""
    rows = db.execute("select path, id from log_files where state <> 'past'")
    return {as_text(path): id for path, id in rows}


def sessions_with(db: sqlite3.Connection, ids: Collection[str]) -> set[tuple[str, str]]:
    """Sessions with one of these ids, or with a log that has one."""
    if not ids:
        return set()
    found = db.execute(
        "select agent, session, own_session from log_files where state <> 'past' and session <> ''"
    )
    return {
        (agent, as_text(session))
        for agent, session, own in found
        if agent and (as_text(session) in ids or as_text(own) in ids)
    }


def last_generation(db: sqlite3.Connection, path: str) -> int:
    """The highest generation of any log that was ever at this path."""
    found = db.execute("select max(generation) from log_files where path = ?", (storable(path),)).fetchone()
    return int(found[0] or 0)


def add_file(db: sqlite3.Connection, values: Mapping[str, Any]) -> int:
    """Adds a new log, unread so far; returns its number."""
    row = {"state": "here", **{name: storable(value) for name, value in values.items()}, "size": UNREAD}
    names = ", ".join(row)
    marks = ", ".join(f":{name}" for name in row)
    return int(db.execute(f"insert into log_files ({names}) values ({marks})", row).lastrowid or 0)


def change_file(db: sqlite3.Connection, id: int, **values: Any) -> None:
    """Updates columns of a log."""
    changes = ", ".join(f"{name} = :{name}" for name in values)
    row = {name: storable(value) for name, value in values.items()}
    db.execute(f"update log_files set {changes} where id = :id", {**row, "id": id})


def start_anew(db: sqlite3.Connection, id: int, *, generation: int) -> None:
    """Resets a log that was rewritten: its new contents are unread."""
    change_file(
        db,
        id,
        generation=generation,
        size=UNREAD,
        contents_bytes=0,
        position=0,
        lines=0,
        head=None,
        tail=None,
        memory=None,
        pieces_read=0,
        pieces_unknown=0,
        pieces_broken=0,
        recovered=0,
        problem=None,
    )


def put_reading(db: sqlite3.Connection, read: FileRead) -> None:
    """Stores how far a log was read, and the counts of its pieces."""
    n_read, n_unknown, n_broken, n_recovered = read.counts
    change_file(
        db,
        read.file,
        contents_bytes=read.contents_bytes,
        position=read.position,
        lines=read.lines,
        head=read.head,
        tail=read.tail,
        memory=read.memory,
        problem=read.problem,
        pieces_read=n_read,
        pieces_unknown=n_unknown,
        pieces_broken=n_broken,
        recovered=n_recovered,
    )
    if read.stamp is not None:
        stamp(db, read.file, read.stamp)


def put_out_of_reach(db: sqlite3.Connection, id: int, why: str) -> None:
    """Record that a log could not be read now; its data stays, and it is tried again."""
    change_file(db, id, problem=why, ctime_ns=OUT_OF_REACH)
    db.execute("update log_files set size = ? where id = ? and state = 'kept'", (UNREAD, id))


def stamp(db: sqlite3.Connection, id: int, stamp: tuple[int, int, int, int, int]) -> None:
    """Stores size, times, inode and device of a log that is read up to that size."""
    size, mtime_ns, ctime_ns, inode, device = stamp
    change_file(db, id, size=size, mtime_ns=mtime_ns, ctime_ns=ctime_ns, inode=inode, device=device)


def put_folders(db: sqlite3.Connection, root: str, folders: Mapping[str, int]) -> None:
    """Replaces the listed folders of a root."""
    db.execute("delete from folders where root = ?", (storable(root),))
    db.executemany(
        "insert or replace into folders (path, root, mtime_ns) values (?, ?, ?)",
        [(storable(path), storable(root), mtime_ns) for path, mtime_ns in folders.items()],
    )


def put_kin(db: sqlite3.Connection, agent: str, session: str, keys: Iterable[tuple[str, bytes]]) -> None:
    """Stores the keys by which other sessions may be related to a session."""
    db.execute("delete from kin where agent = ? and session = ?", (agent, session))
    db.executemany(
        "insert or ignore into kin (what, key, agent, session) values (?, ?, ?, ?)",
        [(what, key, agent, session) for what, key in keys],
    )


def kin_of(db: sqlite3.Connection, agent: str, session: str) -> set[str]:
    """The sessions that share history with one, over any number of steps, including itself."""
    found, waiting = {session}, [session]
    while waiting:
        for other in _linked(db, agent, waiting.pop()):
            if other not in found and _is_known(db, agent, other):
                found.add(other)
                waiting.append(other)
    return found


def _is_known(db: sqlite3.Connection, agent: str, session: str) -> bool:
    """Whether a session has logs; one that is only named by others is not followed."""
    asked = "select 1 from log_files where session = ? and agent = ? and state <> 'past' limit 1"
    return db.execute(asked, (session, agent)).fetchone() is not None


def _linked(db: sqlite3.Connection, agent: str, session: str) -> set[str]:
    """Sessions one step away: either begins with an id that the other holds, or names the other.

    The cross join and the plus make SQLite start with our rows and then use the key: it does not know how rare that is.
    """
    rows = db.execute(
        """
        select theirs.session from kin ours cross join kin theirs
          where ours.agent = ?1 and ours.session = ?2 and ours.what in ('begins', 'holds')
            and theirs.key = ours.key and +theirs.agent = ?1
            and (theirs.what = 'begins' or (theirs.what = 'holds' and ours.what = 'begins'))
        union select cast(key as text) from kin where agent = ?1 and session = ?2 and what = 'names'
        union select session from kin where agent = ?1 and what = 'names' and key = cast(?2 as blob)
        """,
        (agent, session),
    )
    return {row[0] for row in rows}
