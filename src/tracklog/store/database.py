"""The index: one SQLite file, one writer, any number of readers.

Rules of this room
  1. Who writes holds the lock of the home. SQLite below 3.51.3 can harm its WAL when two connections checkpoint, so
     readers never do.
  2. What belongs together is written in one transaction; a process that is killed leaves the one before it.
  3. An index that is damaged is set aside, never deleted, and made anew from logs and archive.
  4. Trouble of the disk becomes one sentence that says what to do.
  5. What fails on a value that we never write (store/integrity.py) fails because the index is damaged; all else that is not
     the disk's is our own mistake, and flies.

What the user chose for this index, and what it remembers of itself.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tracklog.errors import UserError
from tracklog.home import Home, held_lock, open_private
from tracklog.store.migrate import NEWEST, migrate, version_of

_WAIT_S = 5.0
_SIDES = ("", "-wal", "-shm")
_CACHE_KIB = 16_384
_WRITERS_CACHE_KIB = 32_768
_WRONG_VALUE = "it holds a value that was never written there"
_BY_A_WRONG_VALUE = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError)


class StoreError(UserError):
    """The index or the archive cannot be used, and why."""


class DiskFull(StoreError):  # noqa: N818 - named for the state of the disk
    """The disk takes no more."""


class DamagedIndex(StoreError):  # noqa: N818 - named for the state of the index
    """The index is no database, or a broken one."""


class Database:
    """An open index."""

    def __init__(self, db: sqlite3.Connection, home: Home, *, is_writer: bool) -> None:
        self.db = db
        self.home = home
        self.is_writer = is_writer

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing."""
        with told_plainly(self.home):
            self.db.execute("begin immediate")
            try:
                yield self.db
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("rollback")
                raise
            self.db.execute("commit")

    def close(self) -> None:
        """Readers leave the WAL alone; the writer has emptied it."""
        self.db.close()


@contextmanager
def writing(home: Home) -> Iterator[Database]:
    """The index, to be written; made if there is none. Raises Busy if another process writes, Damaged if it cannot be used."""
    home.make()
    with held_lock(home), opened(home) as database:
        yield database


@contextmanager
def opened(home: Home) -> Iterator[Database]:
    """The same for who holds the lock already."""
    with told_plainly(home):
        database = Database(_connected(home), home, is_writer=True)
        try:
            yield database
            _empty_wal(database.db)
        finally:
            database.close()


@contextmanager
def reading(home: Home) -> Iterator[Database | None]:
    """The index as it stands, or None if there is none that this program can read."""
    if not home.has_index():
        yield None
        return
    with told_plainly(home):
        db = _opened(home.index, is_writer=False)
        try:
            yield Database(db, home, is_writer=False) if version_of(db) == NEWEST else None
        finally:
            db.close()


def schema_of(home: Home) -> int | None:
    """The version of the index's schema, which may be another one than ours; None if there is no index."""
    if not home.has_index():
        return None
    with told_plainly(home), closing(_opened(home.index, is_writer=False)) as db:
        return version_of(db)


def set_aside(home: Home, *, called: str = "damaged") -> Path:
    """Puts an index out of the way, under a name that says what it is. Only for who holds the lock."""
    n = 1
    while (aside := home.path / f"index.{called}-{n}.db").exists():
        n += 1
    for side in _SIDES:
        old = home.index.with_name(home.index.name + side)
        if old.exists():
            os.replace(old, aside.with_name(aside.name + side))
    return aside


@contextmanager
def removed_at_last(home: Home) -> Iterator[None]:
    """Begins and ends without an index at this place, whatever happens. Only for who holds the lock."""
    try:
        _remove(home)
        yield
    finally:
        _remove(home)


def _remove(home: Home) -> None:
    for side in _SIDES:
        home.index.with_name(home.index.name + side).unlink(missing_ok=True)


def swap(new: Home, old: Home) -> None:
    """Puts one index, closed and with an empty WAL, in the place of another. Only for who holds the lock."""
    for side in _SIDES[1:]:
        old.index.with_name(old.index.name + side).unlink(missing_ok=True)
    os.replace(new.index, old.index)


def has_full_text_search() -> bool:
    """Whether this SQLite can make an index at all."""
    with closing(sqlite3.connect(":memory:")) as db:
        return ("ENABLE_FTS5",) in db.execute("pragma compile_options").fetchall()


@contextmanager
def told_plainly(home: Home) -> Iterator[None]:
    """Turns what SQLite and the disk say into what a person can act upon."""
    try:
        yield
    except UnicodeDecodeError as error:  # a text in it is none any more
        raise _damaged(home, str(error)) from error
    except _of_unpacking() as error:  # what we packed can no longer be unpacked
        raise _damaged(home, _WRONG_VALUE) from error
    except sqlite3.OperationalError as error:
        if _is_of_damage(error, home):
            raise _damaged(home, str(error)) from error
        is_full = getattr(error, "sqlite_errorname", "").startswith("SQLITE_FULL")
        raise (DiskFull if is_full else StoreError)(_words(error, home)) from error
    except (
        sqlite3.IntegrityError,
        sqlite3.ProgrammingError,
        sqlite3.InterfaceError,
        *_BY_A_WRONG_VALUE,
    ) as error:
        if _is_as_written(home, by_its_values=True):
            raise  # our own mistake
        raise _damaged(home, _WRONG_VALUE) from error
    except sqlite3.DatabaseError as error:
        raise _damaged(home, str(error)) from error


def _of_unpacking() -> type[Exception]:
    """Asked only when something was raised: most answers out of the index load no decoder."""
    from msgspec import MsgspecError

    return MsgspecError


def _damaged(home: Home, why: str) -> DamagedIndex:
    return DamagedIndex(
        f"the index {home.index} is damaged ({why}): `tracklog rebuild` makes it anew from the logs and the archive"
    )


def _is_of_damage(error: sqlite3.OperationalError, home: Home) -> bool:
    """Whether a statement failed because of what stands in the file: a text that is none, or another schema than ours."""
    if "decode" in str(error):
        return True
    return getattr(error, "sqlite_errorname", "") == "SQLITE_ERROR" and not _is_as_written(home)


def _is_as_written(home: Home, *, by_its_values: bool = False) -> bool:
    """Whether the index has our schema, or nothing but values of ours, asked over a connection of its own."""
    from tracklog.store.integrity import has_our_schema, has_our_values  # only where something went wrong

    try:
        with closing(_opened(home.index, is_writer=False)) as db:
            return has_our_values(db) if by_its_values else has_our_schema(db)
    except sqlite3.DatabaseError:
        return False


def _words(error: sqlite3.OperationalError, home: Home) -> str:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_FULL"):
        return f"no space is left for the index in {home.path}: free some, then run the command again; nothing is lost"
    if name.startswith(("SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return f"cannot use the index in {home.path} ({error}): check the disk and its permissions"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "the index is being written by another process: try again in a moment"
    raise error  # wrong SQL: ours


def _connected(home: Home) -> sqlite3.Connection:
    if not home.has_index():  # SQLite gives its side files the permissions of the database
        os.close(open_private(home.index, os.O_RDWR | os.O_CREAT))
    db = _opened(home.index, is_writer=True)
    from tracklog.store.public_views import make_views  # readers do without it

    try:
        migrate(db)
        make_views(db)
    except BaseException:
        db.close()
        raise
    return db


def _opened(path: Path, *, is_writer: bool) -> sqlite3.Connection:
    mode = "rwc" if is_writer else "ro&immutable=1" if _is_at_rest(path) else "ro"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=_WAIT_S, check_same_thread=False)
    db.execute(f"pragma cache_size = -{_WRITERS_CACHE_KIB if is_writer else _CACHE_KIB}")
    db.execute("pragma trusted_schema = off")
    if is_writer:
        db.execute("pragma journal_mode = wal")
        db.execute("pragma synchronous = normal")
        db.execute("pragma wal_autocheckpoint = 4000")  # while others still read: at the end somebody waits
        db.execute("pragma temp_store = memory")
    else:
        db.execute("pragma query_only = on")
        db.execute("pragma wal_autocheckpoint = 0")
    return db


def _is_at_rest(path: Path) -> bool:
    """Whether nobody writes an index in a folder in which SQLite may not make the side files that a reader needs."""
    has_sides = any(path.with_name(path.name + side).exists() for side in _SIDES[1:])
    return not has_sides and not os.access(path.parent, os.W_OK)


def _empty_wal(db: sqlite3.Connection) -> None:
    db.execute("pragma wal_checkpoint(truncate)").fetchall()


def setting(db: sqlite3.Connection, name: str) -> str | None:
    """A setting; None if it was never made."""
    found = db.execute("select value from settings where name = ?", (name,)).fetchone()
    return None if found is None else str(found[0])


def put_setting(db: sqlite3.Connection, name: str, value: str) -> None:
    """Makes a setting."""
    db.execute("insert or replace into settings (name, value) values (?, ?)", (name, value))
