"""Open the index: one SQLite file, one writer, any number of readers.

Rules
  1. A writer holds the lock of the home. SQLite below 3.51.3 can damage its WAL when two connections checkpoint, so
     readers never do.
  2. What belongs together is written in one transaction; a process that is killed leaves the state before it.
  3. A damaged index is set aside, never deleted, and rebuilt from logs and archive.
  4. An error of the disk becomes one sentence that says what to do.
  5. An error caused by a value that we never write (store/integrity.py) means that the index is damaged; any other that
     is not the disk's is our own bug, and is raised as it is.
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
    """The disk is full."""


class DamagedIndex(StoreError):  # noqa: N818 - named for the state of the index
    """The index is not a database, or a damaged one."""


class Database:
    """An open index."""

    def __init__(self, db: sqlite3.Connection, home: Home, *, is_writer: bool) -> None:
        self.db = db
        self.home = home
        self.is_writer = is_writer

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Commits at the end, or rolls back on an exception."""
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
        """Closes the connection. Readers do not touch the WAL; a writer has emptied it before."""
        self.db.close()


@contextmanager
def writing(home: Home) -> Iterator[Database]:
    """Opens the index for writing, made if missing; raises Busy if another process writes, DamagedIndex if unusable."""
    home.make()
    with held_lock(home), opened(home) as database:
        yield database


@contextmanager
def opened(home: Home) -> Iterator[Database]:
    """Opens the index for writing; the caller holds the lock."""
    with told_plainly(home):
        database = Database(_connected(home), home, is_writer=True)
        try:
            yield database
            _empty_wal(database.db)
        finally:
            database.close()


@contextmanager
def reading(home: Home) -> Iterator[Database | None]:
    """Opens the index for reading; None if there is none with this program's schema."""
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
    """The version of the index's schema, which may differ from ours; None without an index."""
    if not home.has_index():
        return None
    with told_plainly(home), closing(_opened(home.index, is_writer=False)) as db:
        return version_of(db)


def set_aside(home: Home, *, called: str = "damaged") -> Path:
    """Renames an index to `index.<called>-<n>.db`. The caller holds the lock."""
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
    """Deletes the index of a home before and after the block. The caller holds the lock."""
    try:
        _remove(home)
        yield
    finally:
        _remove(home)


def _remove(home: Home) -> None:
    for side in _SIDES:
        home.index.with_name(home.index.name + side).unlink(missing_ok=True)


def swap(new: Home, old: Home) -> None:
    """Replaces an index by another one, which is closed and has an empty WAL. The caller holds the lock."""
    for side in _SIDES[1:]:
        old.index.with_name(old.index.name + side).unlink(missing_ok=True)
    os.replace(new.index, old.index)


def has_full_text_search() -> bool:
    """Whether this SQLite has FTS5, without which there is no index."""
    with closing(sqlite3.connect(":memory:")) as db:
        return ("ENABLE_FTS5",) in db.execute("pragma compile_options").fetchall()


@contextmanager
def told_plainly(home: Home) -> Iterator[None]:
    """Turns errors of SQLite and the disk into messages that say what to do."""
    try:
        yield
    except UnicodeDecodeError as error:  # a text is no longer valid
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
    """MsgspecError, imported only after an error: most queries load no decoder."""
    from msgspec import MsgspecError  # only for an error

    return MsgspecError


def _damaged(home: Home, why: str) -> DamagedIndex:
    return DamagedIndex(
        f"the index {home.index} is damaged ({why}): `tracklog rebuild` makes it anew from the logs and the archive"
    )


def _is_of_damage(error: sqlite3.OperationalError, home: Home) -> bool:
    """Whether a statement failed because the file holds invalid text or another schema than ours."""
    if "decode" in str(error):
        return True
    return getattr(error, "sqlite_errorname", "") == "SQLITE_ERROR" and not _is_as_written(home)


def _is_as_written(home: Home, *, by_its_values: bool = False) -> bool:
    """Whether the index has our schema (or only valid values), checked over a separate connection."""
    from tracklog.store.integrity import has_our_schema, has_our_values  # only after an error

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
        db.execute(
            "pragma wal_autocheckpoint = 4000"
        )  # early, while workers still read logs: at the end a user waits
        db.execute("pragma temp_store = memory")
    else:
        db.execute("pragma query_only = on")
        db.execute("pragma wal_autocheckpoint = 0")
    return db


def _is_at_rest(path: Path) -> bool:
    """Whether an index has no side files, and SQLite may not make them in its folder, as a reader needs."""
    has_sides = any(path.with_name(path.name + side).exists() for side in _SIDES[1:])
    return not has_sides and not os.access(path.parent, os.W_OK)


def _empty_wal(db: sqlite3.Connection) -> None:
    db.execute("pragma wal_checkpoint(truncate)").fetchall()


def setting(db: sqlite3.Connection, name: str) -> str | None:
    """The value of a setting; None if it was never set."""
    found = db.execute("select value from settings where name = ?", (name,)).fetchone()
    return None if found is None else str(found[0])


def put_setting(db: sqlite3.Connection, name: str, value: str) -> None:
    """Stores a setting."""
    db.execute("insert or replace into settings (name, value) values (?, ?)", (name, value))
