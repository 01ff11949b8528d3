"""The rows of a window of lines, each call with its outcome.

Rules
  1. The work depends on the window, not on the length of the log.
  2. A result is part of its call's row; it has a row of its own only where no call is known.
  3. The outcome of a call comes from the index if it knows the end of the call. For other calls the lines around them
     are folded as if they were the whole log; a verdict that a later line could change is given only at the log's end.
  4. The index lags behind the log: for a running call the lines themselves are always read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import Any, Literal, NamedTuple

from msgspec import Raw

from tracklog.conversation.branches import OpenedTurn, VisibleBranch
from tracklog.conversation.rows import EventRow
from tracklog.conversation.thread_reader import ThreadReading
from tracklog.model.assemble.session import assemble
from tracklog.model.events import HookRan, ToolReturned
from tracklog.model.fold.log import FileFold
from tracklog.model.ids import MAIN, SessionId
from tracklog.model.records import opened
from tracklog.model.session import Call
from tracklog.model.states import Life
from tracklog.sessions.tables_lists import KnownSession
from tracklog.sessions.tables_session import calls_called, calls_on

_MOST_LINES_TO_RESULT = 1_000  # lines in which the result of a call is searched
_OPEN = frozenset({"running", "lost", "abandoned"})
RowName = tuple[int, int]  # line and number of a row


class ThreadContext(NamedTuple):
    """The session of a window, and what is known of it."""

    agent: str
    session: str
    known: KnownSession | None
    db: Connection | None
    is_settled: bool
    life: Life
    now: datetime


def calls_in(asked: ThreadContext, reading: ThreadReading, rows: Sequence[EventRow]) -> dict[RowName, Call]:
    """The calls in some rows with their outcomes, by row; without those not known yet."""
    ours = [row for row in rows if row.kind == "call"]
    found = _matched(reading, ours, _told_by_index(asked, reading, ours))
    unsure = [row for row in ours if _is_unsure(found.get((row.seq, row.n)), is_settled=asked.is_settled)]
    if unsure:
        span = (unsure[0].seq, unsure[-1].seq)
        found |= _matched(reading, unsure, _folded(asked, reading, span))
    return found


def _is_unsure(call: Call | None, *, is_settled: bool) -> bool:
    if call is None or call.verdict == "running":
        return True
    return call.verdict in _OPEN and not is_settled


def _told_by_index(asked: ThreadContext, reading: ThreadReading, rows: Sequence[EventRow]) -> list[Call]:
    """The calls that the index has under the rows' ids; for a row without a match, all calls of its line."""
    if asked.known is None or asked.db is None or not rows:
        return []
    by_id = [
        one.call for one in calls_called(asked.db, asked.known, sorted({row.call or "" for row in rows}))
    ]
    matched = _matched(reading, rows, by_id)
    odd = {row.seq for row in rows if (row.seq, row.n) not in matched}
    lines = {place[1] for seq in odd if (place := reading.lines.place_of(seq)) is not None}
    return by_id + [one.call for one in calls_on(asked.db, asked.known, sorted(lines))]


def _matched(reading: ThreadReading, rows: Sequence[EventRow], calls: Sequence[Call]) -> dict[RowName, Call]:
    """Matches rows with calls: by line, and by id or the id made from it (model/fold/thread.py)."""
    standing: dict[int, list[Call]] = {}
    for call in calls:
        if call.evidence and (seq := reading.lines.seq_of(call.evidence[0].path, call.evidence[0].line)):
            standing.setdefault(seq, []).append(call)
    found: dict[RowName, Call] = {}
    for row in rows:
        here = standing.get(row.seq, [])
        meant = next(
            (one for one in here if one.id == row.call or one.id.startswith(_made_id(row, one))), None
        )
        if meant is not None:
            found[row.seq, row.n] = meant
            standing[row.seq] = [one for one in here if one is not meant]
    return found


def _made_id(row: EventRow, call: Call) -> str:
    """The start of the id that was made for a call without an id, or with a used one."""
    place = call.evidence[0]
    return f"{row.call or place.path}:{place.line}:"


def _folded(asked: ThreadContext, reading: ThreadReading, span: tuple[int, int]) -> list[Call]:
    """The calls in a span of lines, folded from these lines and those after them."""
    first, last = span
    until = min(last + _MOST_LINES_TO_RESULT, reading.lines.n)
    place = reading.lines.place_of(first)
    if place is None:
        return []
    fold = FileFold(str(place[0].path), MAIN, with_text=False)
    told = reading.events(first, until)
    for _, event in told:
        event.is_sidechain = False
        fold.add([event])
    session = assemble(
        [fold],
        session=SessionId(asked.session),
        agent=asked.agent,
        life=asked.life,
        now=asked.now,
        with_text=False,
    )
    is_all = until >= reading.lines.n
    return [call for call in session.calls if is_all or call.verdict not in _OPEN]


_AHEAD = 60  # lines after a window in which results of its calls are searched
_BEHIND = 200  # lines above a window in which calls of its results are searched
_MOST_RESULTS = 20


class ShownRow(NamedTuple):
    """A row with all that its page shows."""

    row: EventRow
    call: Call | None = None  # with its outcome
    has_call: bool = False  # of a result: its call is known, and its row shows it
    report: Raw = Raw()  # of a call: the tool's output for programs
    bracket: Literal["", "first", "middle", "last"] = ""  # position among the calls of its group
    turn: int | None = None  # that it opens
    n_lines: int = 1  # of a quiet row: how many lines it covers
    last_seq: int = 0
    is_left: bool = False  # not on the branch that is followed
    way: OpenedTurn | None = None  # another branch, which begins with this row


class CallDetail(NamedTuple):
    """A call with its input, results and hooks."""

    call: Call
    seq: int | None
    input: Any
    ran_input: Any
    results: list[ToolReturned]
    hooks: list[HookRan]


def window(
    asked: ThreadContext,
    reading: ThreadReading,
    first: int,
    last: int,
    *,
    seen: VisibleBranch | None = None,
    cwd: str | None = None,
) -> list[ShownRow]:
    """The rows of a window, as seen from a branch."""
    last = min(last, reading.lines.n)
    if last < first:
        return []
    rows = reading.rows(first, last, cwd=cwd)
    beyond = reading.rows(last + 1, min(last + _AHEAD, reading.lines.n)) if _has_calls(rows) else []
    reports = {row.call: row.report for row in (*rows, *beyond) if row.kind == "result" and row.call}
    calls = calls_in(asked, reading, rows)
    known = {row.call for row in rows if row.kind == "call"} | _known_ids(asked, rows)
    known |= _called_before(reading, rows, known)
    brackets = _brackets(rows, calls)
    seen = seen or VisibleBranch()
    opens = {turn.seq: turn for turn in seen.turns if first <= turn.seq <= last}
    is_left = seen.left_lines(first, last)
    shown = [
        ShownRow(
            row,
            call=calls.get((row.seq, row.n)),
            has_call=row.kind == "result" and row.call in known,
            report=reports.get(row.call or "", Raw()) if row.kind == "call" else Raw(),
            bracket=brackets.get(id(row), ""),
            last_seq=row.seq,
            is_left=row.seq in is_left,
        )
        for row in rows
    ]
    return _with_runs([_with_turn(one, opens) for one in shown])


def _with_turn(shown: ShownRow, opens: Mapping[int, OpenedTurn]) -> ShownRow:
    """Adds to a row the turn that it opens, and the other branch that begins there, if any."""
    turn = opens.get(shown.row.seq)
    if turn is None or not (shown.row.kind in ("prompt", "command") if turn.n else shown.row.n == 0):
        return shown
    return shown._replace(turn=turn.n, way=turn if turn.is_head else None)


def _has_calls(rows: Sequence[EventRow]) -> bool:
    return any(row.kind == "call" for row in rows)


def _known_ids(asked: ThreadContext, rows: Sequence[EventRow]) -> set[str]:
    """Ids of the calls of results in these rows, as far as the index knows them: they may be far above."""
    ids = {row.call for row in rows if row.kind == "result" and row.call}
    if asked.known is None or asked.db is None or not ids:
        return set()
    return {one.call.id for one in calls_called(asked.db, asked.known, sorted(ids))}


def _called_before(
    reading: ThreadReading, rows: Sequence[EventRow], known: set[str | None]
) -> set[str | None]:
    """Calls shortly above a window whose results are in it, if not known yet: the index lags behind the log."""
    wanted = {row.call for row in rows if row.kind == "result" and row.call} - known
    first = rows[0].seq if rows else 1
    if not wanted or first == 1:
        return set()
    above = reading.rows(max(first - _BEHIND, 1), first - 1)
    return {row.call for row in above if row.kind == "call"} & wanted


def _brackets(rows: Sequence[EventRow], calls: Mapping[RowName, Call]) -> dict[int, Any]:
    """Position in its group of each call that was requested together with others, by the row's identity."""
    groups: dict[tuple[str, ...], list[EventRow]] = {}
    for row in rows:
        call = calls.get((row.seq, row.n))
        if call is not None and len(call.group) > 1:
            groups.setdefault((call.group[0], str(len(call.group))), []).append(row)
    found: dict[int, Any] = {}
    for members in groups.values():
        for row in members[1:-1]:
            found[id(row)] = "middle"
        if len(members) > 1:
            found[id(members[0])], found[id(members[-1])] = "first", "last"
    return found


def is_quiet(shown: ShownRow) -> bool:
    """Whether a row is hidden until the reader asks for every line."""
    row = shown.row
    if row.kind == "result":
        return shown.has_call
    if row.kind in ("hook", "note"):
        return not row.is_bad
    return row.kind == "quiet"


def _with_runs(rows: Sequence[ShownRow]) -> list[ShownRow]:
    """Merges consecutive quiet rows into one."""
    made: list[ShownRow] = []
    for shown in rows:
        before = made[-1] if made else None
        if (
            before is not None
            and shown.row.kind == "quiet" == before.row.kind
            and shown.is_left == before.is_left
        ):
            labels = dict.fromkeys([*before.row.label.split(", "), shown.row.label])
            before.row.label = ", ".join(list(labels)[:6])
            made[-1] = before._replace(n_lines=before.n_lines + 1, last_seq=shown.row.seq)
        else:
            made.append(shown)
    return made


def call_detail(asked: ThreadContext, reading: ThreadReading, seq: int, n: int) -> CallDetail | None:
    """The call in a row of a line, with its input, its results and its hooks, read from their lines."""
    row = next((row for row in reading.rows(seq, seq) if row.n == n and row.kind == "call"), None)
    call = calls_in(asked, reading, [row]).get((seq, n)) if row is not None else None
    if row is None or call is None:
        return None
    wanted = {seq} | {found for place in _places(call) if (found := _seq(reading, place))}
    events = [event for at in sorted(wanted) for _, event in reading.events(at, at)]
    returned = [one for one in events if isinstance(one, ToolReturned) and one.call == row.call]
    results = [_filled(reading, one) for one in returned[:_MOST_RESULTS]]
    hooks = [one for one in events if isinstance(one, HookRan) and one.call == row.call]
    return CallDetail(call, seq, opened(row.input), opened(row.ran_input), results, hooks)


def _places(call: Call) -> list[tuple[str, int]]:
    places = [*call.evidence, *(phase.place for phase in call.phases), *(hook.place for hook in call.hooks)]
    return [(place.path, place.line) for place in places]


def _filled(reading: ThreadReading, result: ToolReturned) -> ToolReturned:
    seq = _seq(reading, (result.place.path, result.place.line))
    filled = result if seq is None else reading.filled(seq, result)
    return filled if isinstance(filled, ToolReturned) else result


def _seq(reading: ThreadReading, place: tuple[str, int]) -> int | None:
    return reading.lines.seq_of(*place)
