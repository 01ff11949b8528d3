"""Read calls back from their rows, pack what has no column, and measure how long tools usually take.

Rules
  1. A call comes back as it was when its session was settled, without what only the log has: its input, the texts of
     its results (their number is kept), and the output of its hooks.
  2. The place of the input is returned with the call.
  3. The calls of a group share one list of its members: a line may hold thousands of them.
  4. The packed rest does not repeat a column: a time that a column has is a number (AS_CALLED, AS_RETURNED), a line
     of the call's own log is a number alone. Empty values take no space.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from tracklog.model.events import Place
from tracklog.model.ids import CallId, SessionId, ThreadId
from tracklog.model.session import Call, CallResult, HookRun, Phase, Stated
from tracklog.sessions.tables_lists import KnownSession
from tracklog.store.surrogates import as_text

PHASES = (
    "asked",
    "permission",
    "hook_before",
    "progress",
    "hook_after",
    "noted",
    "returned",
    "read",
    "notified",
)
AS_CALLED, AS_RETURNED = 0, 1
LONGEST_DID = 160  # letters; one with so many was cut
Spot = (
    int | tuple[int | str, int]
)  # a line of the call's own log, or a file (its path, if it has no number) and a line
Moment = (
    int | str | None
)  # AS_CALLED, AS_RETURNED, the time alone if the day is that of the call, or all of it


class CallRest(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The values of a call that have no column."""

    evidence: list[Spot] = msgspec.field(default_factory=list, name="e")
    phases: list[tuple[int | str, Spot, Moment]] = msgspec.field(default_factory=list, name="p")
    beside: tuple[int, int] | None = msgspec.field(
        default=None, name="g"
    )  # first and last `n` of those of its request
    parallel_with: Sequence[str] = msgspec.field(
        default_factory=list, name="w"
    )  # those, where they are not in order
    inherited_by: Sequence[str] = msgspec.field(default_factory=list, name="i")
    decision: str | None = msgspec.field(default=None, name="d")
    feedback: str | None = msgspec.field(default=None, name="f")
    spawned: str | None = msgspec.field(default=None, name="s")
    server: str | None = msgspec.field(default=None, name="m")
    stated: tuple[float | int | None, int | None, int | None] | None = msgspec.field(default=None, name="t")
    hooks: list[tuple[str | None, str | None, str, Spot]] = msgspec.field(default_factory=list, name="h")
    n_answers: int = msgspec.field(default=1, name="a")
    odd: dict[str, Any] = msgspec.field(default_factory=dict, name="o")  # what its column could not hold


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(CallRest).decode


def packed(rest: CallRest) -> bytes:
    """Packs the rest into bytes."""
    try:
        return _encode(rest)
    except (UnicodeEncodeError, OverflowError, ValueError):  # half characters, numbers without end
        return json.dumps(msgspec.to_builtins(rest)).encode()


def unpacked(body: bytes) -> CallRest:
    """Unpacks the rest from its bytes."""
    try:
        return _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.convert(json.loads(body), CallRest, strict=False)


_COLUMNS = (
    "call, owner, thread, turn, request, name, verdict, outcome, sureness, why, timed_out, called_at, returned_at, "
    "took_ms, took_by, exit_code, on_active_branch, is_inherited, file, line, did, error, rest"
)
_DAY = len("2026-01-01T")


class FoundCall(NamedTuple):
    """A call, and the place of its input."""

    call: Call
    file: int | None
    line: int | None
    did: str | None  # what it did, in a few words; None if the stored text was cut


def ask_calls(
    db: sqlite3.Connection, session: KnownSession, *, verdicts: Sequence[str] = ()
) -> Iterator[FoundCall]:
    """The calls of a session in order; only those with these verdicts, if given."""
    which = f"and verdict in ({', '.join('?' * len(verdicts))})" if verdicts else ""
    found = db.execute(
        f"select {_COLUMNS} from call_rows where session_row = ? {which} order by n", (session.row, *verdicts)
    )
    restoring = _Restoring(db, session)
    return (restoring.found(row) for row in found)


def found_calls(
    db: sqlite3.Connection, session: KnownSession, which: str, values: Sequence[Any]
) -> list[FoundCall]:
    """The calls of a session that meet the SQL condition `which`, in order."""
    found = db.execute(
        f"select {_COLUMNS} from call_rows where session_row = ? and {which} order by n",
        (session.row, *values),
    ).fetchall()
    restoring = _Restoring(db, session, asks_for_few=True)
    return [restoring.found(row) for row in found]


def models_of(db: sqlite3.Connection, session: KnownSession) -> dict[str, str | None]:
    """The model of each request of a session."""
    found = db.execute(
        "select request, model from request_rows where session_row = ? order by n", (session.row,)
    )
    return {as_text(request): as_text(model) for request, model in found}


def offsets_of(db: sqlite3.Connection, file: int, lines: Sequence[int]) -> dict[int, int]:
    """Offsets of some lines of a log; only of lines with an indexed text."""
    wanted = set(lines)
    found = db.execute("select line, offset from text_rows where file = ?", (file,))
    return {line: offset for line, offset in found if line in wanted}


class Paths(dict[int, str]):
    """Paths of logs by their numbers, looked up on first use."""

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__()
        self._db = db

    def __missing__(self, number: int) -> str:
        row = self._db.execute("select path from log_files where id = ?", (number,)).fetchone()
        self[number] = path = as_text(row[0]) if row else ""
        return path


class _Restoring:
    """Builds calls from rows."""

    def __init__(self, db: sqlite3.Connection, session: KnownSession, *, asks_for_few: bool = False) -> None:
        self._db = db
        self._session = session
        self._asks_for_few = asks_for_few
        self._paths = Paths(db)
        self._ids: list[CallId] | None = None  # of all calls of the session
        self._groups: dict[tuple[int, int], list[CallId]] = {}  # by the first and the last of them

    def found(self, row: tuple[Any, ...]) -> FoundCall:
        """The call of a row."""
        (id, owner, thread, turn, request, name, verdict, outcome, sureness, why, timed_out) = row[:11]
        (called_at, returned_at, took_ms, took_by, exit_code, on_active_branch, is_inherited) = row[11:18]
        (file, line, did, error, body) = row[18:]
        rest = unpacked(body)
        at = _At(self._paths, file, called_at, returned_at)
        call = Call(
            id=CallId(as_text(id)),
            session=SessionId(as_text(owner) if owner is not None else self._session.id),
            agent=self._session.agent,
            thread=ThreadId(as_text(thread)),
            name=as_text(name),
            verdict=verdict,
            sureness=sureness,
            why=why,
            evidence=[at.place(spot) for spot in rest.evidence],
            outcome=outcome,
            timed_out=bool(timed_out),
            on_active_branch=bool(on_active_branch),
            turn=turn,
            request=as_text(request),
            called_at=called_at,
            returned_at=returned_at,
            took_ms=rest.odd.get("took_ms", took_ms),
            took_by=took_by,
            exit_code=rest.odd.get("exit_code", exit_code),
            error=as_text(error),
            decision=rest.decision,
            feedback=rest.feedback,
            results=_answers(rest.n_answers, at.place(line or 0)) if rest.n_answers > 1 else [],
            group=self._group(rest, as_text(id)),
            inherited_by=[SessionId(one) for one in rest.inherited_by],
            is_inherited=bool(is_inherited),
            phases=[at.phase(*phase) for phase in rest.phases],
            hooks=[at.hook(*hook) for hook in rest.hooks],
            spawned=ThreadId(rest.spawned) if rest.spawned is not None else None,
            stated=Stated(took_ms=rest.stated[0], tokens=rest.stated[1], tool_uses=rest.stated[2])
            if rest.stated
            else None,
            server=rest.server,
        )
        return FoundCall(call, file, line, as_text(did) if len(did) < LONGEST_DID else None)

    def _group(self, rest: CallRest, id: str) -> list[CallId]:
        if rest.beside is None:
            return [CallId(one) for one in (id, *rest.parallel_with)]
        group = self._groups.get(rest.beside)
        if group is None:
            group = self._groups[rest.beside] = self._members(*rest.beside)
        return group

    def _members(self, first: int, last: int) -> list[CallId]:
        if self._asks_for_few:
            return self._ids_between(first, last)
        return self._all_ids()[first : last + 1]

    def _ids_between(self, first: int, last: int) -> list[CallId]:
        asked = "select call from call_rows where session_row = ? and n between ? and ? order by n"
        return [CallId(as_text(row[0])) for row in self._db.execute(asked, (self._session.row, first, last))]

    def _all_ids(self) -> list[CallId]:
        if self._ids is None:
            asked = "select call from call_rows where session_row = ? order by n"
            self._ids = [CallId(as_text(row[0])) for row in self._db.execute(asked, (self._session.row,))]
        return self._ids


class _At(NamedTuple):
    """Expands packed places and times, given those of the call."""

    paths: Mapping[int, str]
    file: int | None
    called_at: str | None
    returned_at: str | None

    def place(self, spot: Spot) -> Place:
        file, line = (self.file, spot) if isinstance(spot, int) else spot
        return Place(self.paths[file] if isinstance(file, int) else file or "", line)

    def phase(self, what: int | str, spot: Spot, moment: Moment) -> Phase:
        return Phase(
            what=PHASES[what] if isinstance(what, int) else what,
            at=self._time(moment),
            place=self.place(spot),
        )

    def hook(self, event: str | None, name: str | None, outcome: str, spot: Spot) -> HookRun:
        return HookRun(
            event=event,
            name=name,
            outcome=outcome,
            command=None,
            text="",
            exit_code=None,
            took_ms=None,
            at=None,
            place=self.place(spot),
        )

    def _time(self, moment: Moment) -> str | None:
        if moment == AS_CALLED:
            return self.called_at
        if moment == AS_RETURNED:
            return self.returned_at
        if not isinstance(moment, str):
            return None
        return moment if moment[4:5] == "-" else f"{(self.called_at or '')[:_DAY]}{moment}"


def _answers(n: int, place: Place) -> list[CallResult]:
    return [CallResult(place=place, at=None, text="") for _ in range(n)]


_LEAST = 20  # calls of a tool; with fewer, no time counts as usual
_USUAL = """
with timed as (
  select name, took_ms, row_number() over (partition by name order by took_ms) as at, count(*) over (partition by name) as n
  from call_rows where took_ms is not null and not is_inherited and verdict = 'ok'
)
select name, min(took_ms) from timed where n >= ? and at * 20 >= n * 19 group by name
"""


def usual_times(db: sqlite3.Connection) -> dict[str, float]:
    """The 95th percentile of `took_ms` of successful calls, by tool; without tools of few calls."""
    return {as_text(name): took_ms for name, took_ms in db.execute(_USUAL, (_LEAST,))}
