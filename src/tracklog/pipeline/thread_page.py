"""A thread as its page shows it: rows of a window of lines, each call with what became of it.

Rules of this room
  1. The work is that of the window, whatever the length of the log.
  2. A result is part of its call's row; it has a row of its own only where no call is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Raw

from tracklog.model.events import Event, HookRan, ToolReturned
from tracklog.model.session import Call
from tracklog.pipeline.event_rows import Row
from tracklog.pipeline.thread_branches import OpenedTurn, Seen
from tracklog.pipeline.thread_calls import Asked, RowName, calls_in
from tracklog.pipeline.thread_rows import ThreadReading
from tracklog.records.base import opened
from tracklog.store.session_logs import calls_called

_AHEAD = 60  # lines behind a window in which results of its calls are looked for
_BEHIND = 200  # lines above a window in which calls of its results are looked for
_MOST_RESULTS = 20


class ShownRow(NamedTuple):
    """A row with all that its page tells of it."""

    row: Row
    call: Call | None = None  # what became of it
    has_call: bool = False  # of a result: its call is known, and tells of it
    report: Raw = Raw()  # of a call: what the tool told to programs
    bracket: Literal["", "first", "middle", "last"] = ""  # among the calls that ran side by side
    turn: int | None = None  # that it opens
    n_lines: int = 1  # of a quiet row: how many lines it stands for
    last_seq: int = 0
    is_left: bool = False  # not on the branch that is followed
    way: OpenedTurn | None = None  # another branch, which begins with this row


class CallDetail(NamedTuple):
    """A call, unfolded."""

    call: Call
    seq: int | None
    input: Any
    ran_input: Any
    results: list[ToolReturned]
    hooks: list[HookRan]


def window(
    asked: Asked,
    reading: ThreadReading,
    first: int,
    last: int,
    *,
    seen: Seen | None = None,
    cwd: str | None = None,
) -> list[ShownRow]:
    """The rows of a window, as they are seen from a branch."""
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
    seen = seen or Seen()
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
    """A row that opens a turn, with its number; and with the branch that begins there, if it is another one."""
    turn = opens.get(shown.row.seq)
    if turn is None or not (shown.row.kind in ("prompt", "command") if turn.n else shown.row.n == 0):
        return shown
    return shown._replace(turn=turn.n, way=turn if turn.is_head else None)


def _has_calls(rows: Sequence[Row]) -> bool:
    return any(row.kind == "call" for row in rows)


def _known_ids(asked: Asked, rows: Sequence[Row]) -> set[str]:
    """The calls of which results stand here, as far as the index knows them: they may be far above."""
    ids = {row.call for row in rows if row.kind == "result" and row.call}
    if asked.known is None or asked.db is None or not ids:
        return set()
    return {one.call.id for one in calls_called(asked.db, asked.known, sorted(ids))}


def _called_before(reading: ThreadReading, rows: Sequence[Row], known: set[str | None]) -> set[str | None]:
    """The calls shortly above a window, if results in it are of none that is known: the index follows a log later."""
    wanted = {row.call for row in rows if row.kind == "result" and row.call} - known
    first = rows[0].seq if rows else 1
    if not wanted or first == 1:
        return set()
    above = reading.rows(max(first - _BEHIND, 1), first - 1)
    return {row.call for row in above if row.kind == "call"} & wanted


def _brackets(rows: Sequence[Row], calls: Mapping[RowName, Call]) -> dict[int, Any]:
    """Which calls of the window were asked for at once."""
    groups: dict[tuple[str, ...], list[Row]] = {}
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
    """Whether a row is folded away until somebody wants to see every line."""
    row = shown.row
    if row.kind == "result":
        return shown.has_call
    if row.kind in ("hook", "note"):
        return not row.is_bad
    return row.kind == "quiet"


def _with_runs(rows: Sequence[ShownRow]) -> list[ShownRow]:
    """Lines that tell nothing, one behind the other, as one row."""
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


def call_detail(asked: Asked, reading: ThreadReading, seq: int, n: int) -> CallDetail | None:
    """The call in a row of a line, with its input, its results and its hooks, read from their lines."""
    row = next((row for row in reading.rows(seq, seq) if row.n == n and row.kind == "call"), None)
    call = calls_in(asked, reading, [row]).get((seq, n)) if row is not None else None
    if row is None or call is None:
        return None
    wanted = {seq} | {found for place in _places(call) if (found := _seq(reading, place))}
    events = [event for at in sorted(wanted) for event in _told_at(reading, at)]
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


def _told_at(reading: ThreadReading, seq: int) -> list[Event]:
    return [event for _, event in reading.told(seq, seq)]
