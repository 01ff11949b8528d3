"""Open the index for a command, brought up to date first if that is wanted and possible.

Rules
  1. Where there is no index, reading commands read the logs themselves; commands that need one make it.
  2. Where nothing changed, the index is only read: no lock is taken.
  3. If another process writes it, the answer is from the last update, with a message.
  4. What depends on logs that the index has read (rows of sessions, the ledger) is refreshed before every answer,
     also with `--no-sync`: all commands answer from the same state of the index.
  5. On a full disk, commands that can do so read the logs; the others answer from the last update, with a message.
  6. A damaged index is set aside and a new one made, with a message.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tracklog.agents.roots import default_roots
from tracklog.errors import NotThere, UserError
from tracklog.home import Busy, Home, NotWritable, tracklog_home
from tracklog.index.freshness import ProcessLook, is_counted, is_still
from tracklog.index.tables_health import LogTotals as LogTotals
from tracklog.index.tables_health import totals
from tracklog.sources.log_file import Root
from tracklog.store.database import DamagedIndex, Database, DiskFull, reading, schema_of, writing
from tracklog.store.file_stamps import folders_of, root_key
from tracklog.store.migrate import MADE_LATER, NEWEST
from tracklog.store.scope import Scope, scope_of

if TYPE_CHECKING:
    from tracklog.app.talk import Talk
    from tracklog.index.sync import Synced as Synced

# Lazy imports: where nothing is new, the index is only read, by few modules.


class Index(NamedTuple):
    """An open index, and the part of it that a query is about."""

    database: Database
    roots: list[Root]
    scope: Scope
    look: ProcessLook  # shared by all parts of the answer


def asked_roots(given: Sequence[Path], *, agent: str | None = None, home: Path | None = None) -> list[Root]:
    """The given roots, or the homes of the agents; of one agent, if one is given.

    A folder may be gone as long as the index knows logs from it.
    """
    roots = _roots_given(given, home) if given else default_roots(os.environ)
    return [root for root in roots if root.agent in (None, agent or root.agent)]


def _roots_given(given: Sequence[Path], home: Path | None) -> list[Root]:
    from tracklog.agents.discovery import roots_at
    from tracklog.app.scope.resolve import refuse_if_out_of_reach

    for path in given:
        if not os.path.lexists(path) and not _is_known(path.absolute(), Home(tracklog_home(home))):
            refuse_if_out_of_reach(path)
    return [root for path in given for root in roots_at(path.absolute())]


def _is_known(path: Path, home: Home) -> bool:
    try:
        with reading(home) as database:
            return database is not None and scope_of([path]).holds_any(database.db)
    except DamagedIndex:
        return False


@contextmanager
def indexed(
    given: Sequence[Path],
    *,
    home: Path | None,
    talk: Talk,
    syncs: bool = True,
    settles: bool = True,
    makes: bool = False,
) -> Iterator[Index | None]:
    """The index for some roots, up to date; None if there is none and none is to be made."""
    ours = Home(tracklog_home(home))
    roots = asked_roots(given, home=home)
    scope, look = scope_of(root.path for root in roots), ProcessLook()
    if not makes and not ours.has_index():
        yield None
        return
    try:
        if syncs and not _is_up_to_date(ours, roots, look if settles else None):
            from tracklog.app.index.update import refreshed  # all readers come with it
            from tracklog.index.refresh import RefreshSteps

            refreshed(ours, roots, RefreshSteps(with_rows=settles), look=look, talk=talk)
        elif not syncs and settles and not _is_settled(ours):
            from tracklog.index.refresh import RefreshSteps, refresh

            with writing(ours) as writer:
                refresh(writer, roots, RefreshSteps(reads=False), look=look)
    except (Busy, NotWritable) as hindered:
        if not makes and not _was_ever_complete(ours, roots):
            talk.say(f"tracklog: {why_as_before(hindered)}, and {_lack_of(ours)}: the logs are read")
            yield None
            return
        if makes and not _can_be_asked(ours):
            raise _no_index(ours, hindered) from hindered
        talk.say(f"tracklog: {why_as_before(hindered)}: this is what it knew before")
    except DiskFull as trouble:
        if makes and not _was_ever_complete(ours, roots):
            raise
        talk.say(f"tracklog: {trouble}")
        if not makes:
            talk.say("tracklog: the logs are read instead")
            yield None
            return
        talk.say("tracklog: this is what the index knew before")
    with reading(ours) as database:
        yield None if database is None else Index(database, roots, scope, look)


def index_totals(given: Sequence[Path], *, home: Path | None, talk: Talk) -> LogTotals | None:
    """What the index holds of some roots, after it was made or brought up to date."""
    with indexed(given, home=home, talk=talk, makes=True) as index:
        return None if index is None else totals(index.database.db, index.scope)


@contextmanager
def index_if_fresh(given: Sequence[Path], *, home: Path | None) -> Iterator[Index | None]:
    """The index for some roots, if it knows all that their logs and processes say by now; nothing is written."""
    ours = Home(tracklog_home(home))
    if not ours.has_index():
        yield None
        return
    roots, look = asked_roots(given, home=home), ProcessLook()
    if not _is_up_to_date(ours, roots, look):
        yield None
        return
    with reading(ours) as database:
        scope = scope_of(root.path for root in roots)
        yield None if database is None else Index(database, roots, scope, look)


def why_as_before(hindered: Busy | NotWritable) -> str:
    """Why the index is not brought up to date, in words that more can be said behind."""
    is_busy = isinstance(hindered, Busy)
    return "another process is writing the index" if is_busy else "the index may only be read here"


def why_there_is_none(home: Path | None) -> Exception:
    """What to raise where `indexed` gave no index that can be asked."""
    return _no_index(Home(tracklog_home(home)))


def _no_index(home: Home, hindered: Busy | NotWritable | None = None) -> Exception:
    """What to raise where this tracklog cannot read the index; `hindered` is why it cannot make or update one."""
    if isinstance(hindered, Busy):
        return NotThere("another process is writing the index: try again when it is done")
    version = schema_of(home)
    if version is None:
        return hindered or NotThere("there is no index yet: `tracklog index` makes it")
    if version > NEWEST:
        return UserError(MADE_LATER)
    if hindered is None and home.is_writable():
        return NotThere("the index was made by an older tracklog: `tracklog index` updates it")
    return NotThere(
        f"the index in {home.path} was made by an older tracklog, and is read-only: run `tracklog index` as a user who "
        "may write there, or name another folder with --home"
    )


def _lack_of(home: Home) -> str:
    """Why the logs are read rather than an index that cannot be written."""
    version = schema_of(home) or NEWEST
    if version == NEWEST:
        return "is not complete"
    return f"was made by {'a later' if version > NEWEST else 'an older'} tracklog"


def _can_be_asked(home: Home) -> bool:
    with reading(home) as database:
        return database is not None


def _was_ever_complete(home: Home, roots: list[Root]) -> bool:
    """Whether these roots were read to their end at least once."""

    with reading(home) as database:
        keys = {root_key(root) for root in roots}
        return database is not None and folders_of(database.db, sorted(keys)).keys() == keys


def _is_up_to_date(home: Home, roots: list[Root], look: ProcessLook | None) -> bool:
    """Whether the index knows all the logs; with a look, whether its sessions also say what the processes say."""
    try:
        with reading(home) as database:
            if database is None or not is_still(database.db, roots, spool=home.spool):
                return False
            return look is None or _are_sessions_true(database, look)
    except DamagedIndex:
        return False  # who writes it will see to that


def _are_sessions_true(database: Database, look: ProcessLook) -> bool:
    """Whether the rows of sessions say what the logs and the processes say now."""
    from tracklog.sessions.tables_write import unsettled  # slow to load, and sums of money need none of it

    return not unsettled(database.db) and not look.changed(database)


def _is_settled(home: Home) -> bool:
    from tracklog.sessions.tables_write import unsettled

    with reading(home) as database:
        return database is None or not unsettled(database.db)


class IndexUpdate(NamedTuple):
    """What the index holds now, and what an update read; None where it knew all the logs already."""

    known: LogTotals
    synced: Synced | None


def bring_up_to_date(
    home: Home, roots: list[Root], *, talk: Talk, is_full: bool = False, archives: bool | None = None
) -> IndexUpdate:
    """Read and count what is new; `archives` says whether copies of logs are kept from now on."""
    still = None if is_full or archives is not None else _totals_if_still(home, roots)
    if still is not None and still.is_counted:
        return IndexUpdate(still.known, None)
    from tracklog.app.index.update import update_index  # where nothing is new, nothing of it is needed

    known = None if still is None else still.known
    return IndexUpdate(*update_index(home, roots, talk=talk, is_full=is_full, archives=archives, known=known))


class _StillIndex(NamedTuple):
    known: LogTotals
    is_counted: bool  # whether ledger and status line know all the logs, too


def _totals_if_still(home: Home, roots: list[Root]) -> _StillIndex | None:
    """What the index holds if it knows all the logs: this loads nothing else."""
    try:
        with reading(home) as database:
            if database is not None and is_still(database.db, roots, spool=home.spool):
                scope = scope_of(root.path for root in roots)
                return _StillIndex(totals(database.db, scope), is_counted(database))
    except DamagedIndex:
        return None  # the one who writes it will see to that
    return None
