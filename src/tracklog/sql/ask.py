"""Run a user's SQL query over the index, read-only and within limits.

Rules
  1. Read-only: the connection is opened so, and an authorizer allows only what a SELECT needs. No ATTACH, no PRAGMA, no
     writing, no tables of the user's own, no extensions.
  2. Every query ends: with its result, at its row limit or at its time limit. A single function cannot be stopped
     halfway, so the length of intermediate texts is limited. The size of a result in memory is limited, too.
  3. A wrong query is the user's error: one line with SQLite's message, and the names that may have been meant.
  4. Costs need prices, which SQL does not know: `costs` is a temporary table of this connection, made only for a query
     that names it.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, NamedTuple

from tracklog.errors import UserError
from tracklog.store.public_views import VIEWS, PublicView, ViewColumn, has_views
from tracklog.store.scope import Scope
from tracklog.store.surrogates import as_text

COSTS = PublicView(
    "costs",
    "What each row of `ledger` cost at the prices that tracklog knows; only in `tracklog sql`, made when a question names it.",
    (
        ViewColumn("id", "integer", "The `id` of the row in `ledger`.", "id"),
        ViewColumn(
            "cost_micro_usd",
            "integer",
            "Its cost in millionths of a dollar, rounded; null: without a price or without a count.",
            "cost_micro_usd",
        ),
        ViewColumn(
            "cost_pico_usd",
            "integer",
            "The same, exact, in millionths of these: what is to be added up and rounded once.",
            "cost_pico_usd",
        ),
    ),
    "",
)
Cost = tuple[int, int | None, int | None]  # as the columns of `costs`
_ALL_VIEWS: Sequence[PublicView] = (*VIEWS, COSTS)

_LONGEST = 1_000_000  # letters or bytes of one value: more than any row holds
LARGEST_ANSWER = 64_000_000  # about so many letters and bytes in all
_NUMBER_BYTES = 8
_MOST_COLUMNS = 200
_LONGEST_PATTERN = 1_000
_LONGEST_QUESTION = 1_000_000
_STEPS = 2_000  # of SQLite's machine between two looks at the clock: some 20 microseconds
_ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
_FORBIDDEN_FUNCTIONS = {"load_extension", "fts3_tokenizer"}
_PRAGMAS_OF_FTS5 = {"data_version"}
_OPENED_BEFORE = ("words", "json_each", "json_tree")  # opening these looks like writing to an authorizer
_THE_USERS = (
    "SQLITE_ERROR",
    "SQLITE_AUTH",
    "SQLITE_TOOBIG",
    "SQLITE_MISMATCH",
    "SQLITE_RANGE",
    "SQLITE_READONLY",
)
_WORD = re.compile(r"\w+")
_NOT_THERE = re.compile(r"no such (table|column|function): (?:\w+\.)?(.+)")


class WrongQuestion(UserError):  # noqa: N818 - named for what it says of the question
    """A query that cannot be run, and why."""


class TooLong(Exception):  # noqa: N818 - named for what it says of the question
    """The time limit ended a query."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the question took longer than {seconds:g} s: ask for less, or give it more --timeout"
        )


class Answered(NamedTuple):
    """The result of a query: names of columns, rows, and whether rows were cut off."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    is_truncated: bool


def ask(db: sqlite3.Connection, question: str, *, limit: int, timeout_s: float) -> Answered:
    """Runs one query and returns at most `limit` rows."""
    text = checked(question)
    with _only_reading(db), _deadline(db, timeout_s), _told_to_the_user():
        asked = db.execute(text)
        if asked.description is None:
            raise WrongQuestion("no question was asked: give one SELECT, or try `tracklog sql --schema`")
        rows, is_truncated = fetched(asked, limit)
        asked.close()
    columns = [column[0] for column in asked.description]
    return Answered(columns, rows, is_truncated)


def fetched(found: Iterable[tuple[Any, ...]], limit: int) -> tuple[list[tuple[Any, ...]], bool]:
    """The rows up to both limits, and whether there were more."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    for row in found:
        size += sum(
            len(value) if isinstance(value, str | bytes | list | dict) else _NUMBER_BYTES for value in row
        )
        if len(rows) == limit or size > LARGEST_ANSWER:
            return rows, True
        rows.append(row)
    return rows, False


def views_named(question: str) -> set[str]:
    """The views that a query may use: those whose names occur in it."""
    words = {word.lower() for word in _WORD.findall(question)}
    return {view.name for view in _ALL_VIEWS if view.name in words}


def put_costs(db: sqlite3.Connection, costs: Iterable[Cost]) -> None:
    """Creates the temporary table `costs`."""
    with _writing_aside(db):
        db.execute(
            "create temp table costs (id integer primary key, cost_micro_usd integer, cost_pico_usd integer)"
        )
        db.executemany("insert into temp.costs values (?, ?, ?)", costs)


def lay_out(db: sqlite3.Connection, scope: Scope | None = None) -> None:
    """Makes temporary views for this connection if those in the index are outdated, or to limit them to a scope."""
    is_narrow = scope is not None and not scope.is_everything(db)
    if not is_narrow and has_views(db):
        return
    with _writing_aside(db):
        if scope is not None and is_narrow:
            _put_scope(db, scope)
        for view in VIEWS:
            where = f" where {_in_scope(view)}" if is_narrow else ""
            db.execute(f"create temp view {view.name} as select * from ({view.select}){where}")


def _put_scope(db: sqlite3.Connection, scope: Scope) -> None:
    paths = db.execute("select path from main.log_files where state <> 'past'").fetchall()
    db.execute("create temp table asked_paths (path text primary key) without rowid")
    db.executemany(
        "insert or ignore into temp.asked_paths values (?)",
        [(path,) for (path,) in paths if scope.holds(as_text(path))],
    )
    db.execute(
        "create temp table asked_sessions as select distinct agent, session from main.log_files "
        "where state <> 'past' and session is not null and path in (select path from temp.asked_paths)"
    )


def _in_scope(view: PublicView) -> str:
    if view.scope == "path":
        return "path in (select path from temp.asked_paths)"
    session = "id" if view.name == "sessions" else "session"
    return f"(agent, {session}) in (select agent, session from temp.asked_sessions)"


def checked(question: str) -> str:
    """The query, stripped; raises WrongQuestion if it is too long or no valid text."""
    text = question.strip().rstrip(";").strip()
    if len(text) > _LONGEST_QUESTION:
        raise WrongQuestion(f"the question is longer than {_LONGEST_QUESTION:,} letters")
    if "\0" in text or _has_half_characters(text):
        raise WrongQuestion("the question holds bytes that are no text")
    return text


def _has_half_characters(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


@contextmanager
def _writing_aside(db: sqlite3.Connection) -> Iterator[None]:
    """Allows temporary tables, in memory; the index itself stays read-only."""
    db.execute("pragma temp_store = memory")
    db.execute("pragma query_only = off")
    try:
        yield
    finally:
        db.execute("pragma query_only = on")


@contextmanager
def _only_reading(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("pragma query_only = on")
    before = db.text_factory
    limits = {
        sqlite3.SQLITE_LIMIT_LENGTH: _LONGEST,
        sqlite3.SQLITE_LIMIT_COLUMN: _MOST_COLUMNS,
        sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: _LONGEST_PATTERN,
    }
    old = {which: db.setlimit(which, most) for which, most in limits.items()}
    db.text_factory = _as_text
    for name in _OPENED_BEFORE:
        db.execute(f"select 1 from {name} limit 0")
    db.set_authorizer(_authorize)
    try:
        yield
    finally:
        db.set_authorizer(None)
        db.text_factory = before
        for which, most in old.items():
            db.setlimit(which, most)


def _as_text(data: bytes) -> str:
    """Decodes a text, which may be invalid UTF-8: `cast(x'ff' as text)`."""
    return data.decode("utf-8", "replace")


def _authorize(action: int, what: str | None, detail: str | None, *_: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if detail in _FORBIDDEN_FUNCTIONS else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and what in _PRAGMAS_OF_FTS5 and detail is None:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


@contextmanager
def _deadline(db: sqlite3.Connection, seconds: float) -> Iterator[None]:
    ends = time.monotonic() + seconds
    db.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname != "SQLITE_INTERRUPT":
            raise
        if time.monotonic() <= ends:  # SQLite swallows what Ctrl-C raised while we looked at the clock
            raise KeyboardInterrupt from error
        raise TooLong(seconds) from error
    finally:
        db.set_progress_handler(None, 0)


@contextmanager
def _told_to_the_user() -> Iterator[None]:
    """Turns SQLite's errors about a wrong query into WrongQuestion; errors of the index itself pass."""
    try:
        yield
    except (sqlite3.Warning, sqlite3.ProgrammingError) as error:
        raise WrongQuestion(_words_of(error)) from error
    except sqlite3.DatabaseError as error:
        if not getattr(error, "sqlite_errorname", "").startswith(_THE_USERS):
            raise
        raise WrongQuestion(_words_of(error)) from error


def _words_of(error: sqlite3.Error | sqlite3.Warning) -> str:
    said = str(error)
    if said.startswith("You can only execute one statement"):
        return "one question at a time: there is something behind the first `;`"
    if said.startswith("Incorrect number of bindings"):
        return "the question has placeholders (?): write the values themselves"
    if said.startswith(("not authorized", "authorization denied", "attempt to write", "cannot modify")):
        return f"{said}: questions only read, so one SELECT is all that is allowed"
    return f"{said}{likely_names(said)}"


def likely_names(said: str) -> str:
    """A hint to append to a message about an unknown name."""
    found = _NOT_THERE.match(said)
    if found is None:
        return ""
    kind, name = found.groups()
    if kind == "function":
        return ""
    return names_meant(name, is_column=kind == "column") or (
        "; `tracklog sql --schema` lists the views and their columns"
    )


def names_meant(name: str, *, is_column: bool) -> str:
    """A hint that names the views with such a column, or similar names; or nothing."""
    views = [view.name for view in _ALL_VIEWS if is_column and name.lower() in _columns_of(view)]
    if views:
        return f"; {name} is a column of {', '.join(views)}"
    near = nearest(name, known_names(columns=is_column))
    return f"; did you mean {' or '.join(near)}?" if near else ""


def known_names(*, columns: bool) -> list[str]:
    """The names of all views, or of all their columns."""
    if not columns:
        return [view.name for view in _ALL_VIEWS]
    return list(dict.fromkeys(name for view in _ALL_VIEWS for name in _columns_of(view)))


def _columns_of(view: PublicView) -> list[str]:
    return [column.name for column in view.columns]


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """The names that look most like this one."""
    return get_close_matches(name.lower(), known, n=3, cutoff=0.65)
