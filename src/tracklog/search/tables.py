"""Query the full-text index for hits, the newest first.

Rules
  1. The work is bounded: once there are enough hits, the rest is only counted, up to COUNTED of them and a number of
     steps of SQLite's machine; then the total is a lower bound (`is_exact` false). The whole search has a time limit.
  2. Filters on logs (session, project) are resolved first: the times of these logs bound which texts are looked at.
  3. Only texts in current logs are found, not those that were dropped or belong to a past generation.
  4. Hits of the same time (or of the same relevance and second) are ordered by the paths of their logs, the last line
     of a log first: the order does not depend on which log was indexed first.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from tracklog.archive.tables import frames_of
from tracklog.clock import NO_TIME, moment_text
from tracklog.search.query import Query
from tracklog.search.tables_match import Conditions, conditions_of, match_of
from tracklog.store.scope import Scope
from tracklog.store.surrogates import as_text, storable
from tracklog.store.text import ROLE_NAMES, SLOT_BITS
from tracklog.store.values import Archived


class FoundLog(NamedTuple):
    """A log as the index knows it."""

    id: int
    path: str
    root: str
    agent: str | None
    kind: str
    session: str | None  # of the log itself
    is_here: bool  # at its source
    archived: Archived | None  # where else its bytes are; with its frames if it is not here


class Titled(NamedTuple):
    """The title and the project of a session."""

    title: str | None
    project: str | None


def log_of(db: sqlite3.Connection, id: int) -> FoundLog | None:
    """A log by its number, unless it belongs to a past generation."""
    row = db.execute(
        "select f.path, f.root, f.agent, f.kind, f.own_session, f.state, f.generation, "
        "a.name, a.contents_bytes, a.stored_bytes from log_files f "
        "left join archives a on a.file = f.id and a.generation = f.generation "
        "where f.id = ? and f.state <> 'past'",
        (id,),
    ).fetchone()
    if row is None:
        return None
    path, root, agent, kind, session, state, generation, name, contents, stored = row
    frames = frames_of(db, id, generation) if state == "kept" else []
    archived = Archived(as_text(name), contents, stored, frames) if stored else None
    return FoundLog(
        id, as_text(path), as_text(root), agent, kind, as_text(session), state == "here", archived
    )


def titles_of(db: sqlite3.Connection, names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Titled]:
    """Titles and projects of the sessions that have rows; a name is an agent and a session."""
    asked = "select title, project from session_rows where agent = ? and session = ?"
    found = ((name, db.execute(asked, (name[0], storable(name[1]))).fetchone()) for name in names)
    return {name: Titled(as_text(row[0]), as_text(row[1])) for name, row in found if row is not None}


By = Literal["time", "relevance"]
COUNTED = 1_000
RANKED = 5_000  # the newest of them, by relevance
_STEPS = 1_000  # of SQLite's machine, between two looks at the clock
_STEPS_TO_COUNT = 400  # times as many
_TIED = 1_000  # hits of one second that are put in order beyond those that are wanted
_COLUMNS = "t.id, t.file, t.line, t.offset, t.n, t.role, t.at_ms, f.agent, f.session, f.path"
_WORDS = "words cross join text_rows t on t.id = words.rowid"


class Hit(NamedTuple):
    """A text that was found: its log, line and offset."""

    id: int
    file: int
    line: int
    offset: int
    n: int
    role: str
    at_ms: int | None
    agent: str | None
    session: str | None
    path: str

    @property
    def at(self) -> str | None:
        """The time of the text."""
        return moment_text(NO_TIME if self.at_ms is None else self.at_ms)


class HitPage(NamedTuple):
    """The first hits, how many there are, and whether that number is exact."""

    total: int
    is_exact: bool
    hits: list[Hit]


def search(
    db: sqlite3.Connection,
    query: Query,
    *,
    scope: Scope | None = None,
    limit: int = 20,
    by: By = "time",
    time_limit_s: float = 5.0,
    words: str | None = None,
) -> HitPage:
    """The texts that match a query, in the logs of the scope; without a scope in all logs.

    `words` is a further expression (search/tables_match.py) to match, such as the known words of a pattern.
    """
    match = match_of(query, words)
    with _patience(db, time_limit_s) as patience:
        try:
            conditions = conditions_of(db, query, scope)
        except sqlite3.OperationalError as error:
            _if_interrupted(error)
            return HitPage(0, False, [])
        asking = _Asking(db, match, conditions)
        if by == "relevance" and query.groups:
            return _ranked(db, asking, limit)
        return _newest(db, asking, limit, patience)


class _Patience:
    """Stops a query when its time is over, or when counting took enough steps."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self._left: int | None = None

    def only_count(self) -> None:
        self._left = _STEPS_TO_COUNT

    def is_over(self) -> bool:
        if self._left is not None:
            self._left -= 1
        return time.monotonic() > self._ends or (self._left is not None and self._left < 0)


@contextmanager
def _patience(db: sqlite3.Connection, seconds: float) -> Iterator[_Patience]:
    patience = _Patience(seconds)
    db.set_progress_handler(patience.is_over, _STEPS)
    try:
        yield patience
    finally:
        db.set_progress_handler(None, 0)


def _if_interrupted(error: sqlite3.OperationalError) -> None:
    if getattr(error, "sqlite_errorname", "") != "SQLITE_INTERRUPT":
        raise error


class _Asking:
    """A query for texts, the newest first."""

    def __init__(self, db: sqlite3.Connection, match: str | None, conditions: Conditions) -> None:
        self._db = db
        self._id, tables = ("t.id", "text_rows t") if match is None else ("words.rowid", _WORDS)
        words = [] if match is None else ["words match :match"]
        where = [f"{self._id} between :first_id and :last_id", *words, *conditions.where]
        self._values = {**conditions.values, "match": match}
        self._from = (
            f"from {tables} cross join log_files f on f.id = t.file and f.state <> 'past' "
            f"where {' and '.join(where)} order by {self._id} desc"
        )

    def ids(self) -> Iterator[int]:
        """Their ids, one by one."""
        yield from (row[0] for row in self._db.execute(f"select {self._id} {self._from}", self._values))

    def scores(self, limit: int) -> Iterator[tuple[float, int]]:
        """Relevance (less is better) and id of the newest ones."""
        question = f"select bm25(words, 2.0, 1.0), {self._id} {self._from} limit {limit}"
        yield from self._db.execute(question, self._values)


def _newest(db: sqlite3.Connection, asking: _Asking, limit: int, patience: _Patience) -> HitPage:
    ids: list[int] = []
    is_exact, n_wanted = True, 0
    try:
        for id_ in asking.ids():
            if not n_wanted and len(ids) >= limit and not _is_tied(ids, limit, id_):
                n_wanted = len(ids)
                patience.only_count()
            if len(ids) >= max(COUNTED, limit) and n_wanted:
                is_exact = False
                break
            ids.append(id_)
    except sqlite3.OperationalError as error:
        _if_interrupted(error)
        is_exact = False
    hits = _hits(db, ids[: n_wanted or limit + _TIED])
    return HitPage(len(ids), is_exact, sorted(hits, key=_age)[:limit])


def _is_tied(ids: list[int], limit: int, id_: int) -> bool:
    """Whether a text is of the same second as the last wanted one, so that it may sort before it."""
    is_same = bool(limit) and id_ >> SLOT_BITS == ids[limit - 1] >> SLOT_BITS
    return is_same and len(ids) < limit + _TIED


def _age(hit: Hit) -> tuple[int, int, str, int, int]:
    return -(hit.id >> SLOT_BITS), -(hit.at_ms or 0), hit.path, -hit.offset, -hit.n


def _ranked(db: sqlite3.Connection, asking: _Asking, limit: int) -> HitPage:
    """The most relevant of the newest. SQLite scores every one, without their lengths (columnsize=0)."""
    ranked: list[tuple[float, int]] = []
    is_exact = True
    try:
        for score, id_ in asking.scores(RANKED + 1):
            ranked.append((score, -id_))
    except sqlite3.OperationalError as error:
        _if_interrupted(error)
        is_exact = False
    ranked.sort()
    n_wanted = limit
    while n_wanted < min(len(ranked), limit + _TIED) and _are_alike(ranked[limit - 1], ranked[n_wanted]):
        n_wanted += 1
    scores = {-id_: score for score, id_ in ranked[:n_wanted]}
    best = sorted(_hits(db, list(scores)), key=lambda hit: (scores[hit.id], _age(hit)))
    return HitPage(min(len(ranked), RANKED), is_exact and len(ranked) <= RANKED, best[:limit])


def _are_alike(one: tuple[float, int], other: tuple[float, int]) -> bool:
    return one[0] == other[0] and -one[1] >> SLOT_BITS == -other[1] >> SLOT_BITS


def _hits(db: sqlite3.Connection, ids: list[int]) -> list[Hit]:
    db.set_progress_handler(None, 0)  # the time may be over, but hits found so far are returned
    question = f"select {_COLUMNS} from text_rows t join log_files f on f.id = t.file where t.id = ?"
    found = (db.execute(question, (id_,)).fetchone() for id_ in ids)
    return [_hit(row) for row in found if row is not None]  # a writer may have dropped a text meanwhile


def _hit(row: Any) -> Hit:
    id_, file, line, offset, n, role, at_ms, agent, session, path = row
    return Hit(
        id_, file, line, offset, n, ROLE_NAMES.get(role, ""), at_ms, agent, as_text(session), as_text(path)
    )
