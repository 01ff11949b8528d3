"""Rows of a page, one for each thing that an event shows.

Rules
  1. A row comes from its line alone. The outcome of a call is added later (conversation/window.py).
  2. A text is cut at MOST letters; its full length is given.
"""

from collections.abc import Callable
from typing import Any, Literal, cast

import msgspec
from msgspec import Raw

from tracklog.model.call_summary import told
from tracklog.model.events import (
    CommandPrinted,
    CommandRun,
    ContextCompacted,
    HistoryInherited,
    HistoryRolledBack,
    HookRan,
    LinkMade,
    LogEvent,
    MessagesRetracted,
    ModeChanged,
    ModelReplied,
    PromptGiven,
    QueueChanged,
    RequestFailed,
    SessionTitled,
    StrangeSeen,
    TaskSeen,
    TextInjected,
    TextSource,
    ToolCalled,
    ToolReturned,
    TurnInterrupted,
)
from tracklog.model.records import Broken, Piece, Unknown, opened

MOST = 8_000  # letters of a text that a row carries
_GIST = 400
Kind = Literal[
    "prompt",
    "answer",
    "thinking",
    "call",
    "result",
    "context",
    "command",
    "printed",
    "compaction",
    "interruption",
    "failure",
    "hook",
    "note",
    "link",
    "rollback",
    "unknown",
    "broken",
    "quiet",
]


class EventRow(msgspec.Struct, kw_only=True):
    """One thing that a line shows."""

    seq: int
    n: int  # which row of the line
    kind: Kind
    at: str | None = None
    label: str = ""  # the tool, who asked, why it was injected, what kind of record
    text: str = ""
    length: int = 0  # letters of the whole text
    call: str | None = None  # the id of its call
    gist: str = ""  # of a call: what it did, in one line
    input: Raw = Raw()
    ran_input: Raw = Raw()  # what ran in its place, where the line says so
    report: Raw = Raw()  # of a result: the tool's output for programs
    model: str | None = None
    n_pictures: int = 0
    source: TextSource = "result"  # of a result: where its text was read
    is_whole: bool = True  # False: there was more than this text
    node: str | None = None
    is_aside: bool = False  # a subagent's work in the log of the main thread
    request: str | None = None
    is_bad: bool = False  # an error, or anything else that a reader should not miss

    @property
    def is_cut(self) -> bool:
        """Whether its text was cut."""
        return self.length > len(self.text)


def put_rows(
    rows: list[EventRow], seq: int, event: LogEvent, cwd: str | None, *, most: int | None = MOST
) -> None:
    """Appends the rows of an event to those of its line; `most`: limit of letters of a text."""
    make = _MADE_BY.get(type(event))
    for row in make(event) if make is not None else ():
        row.seq, row.n, row.at = seq, len(rows), event.at
        row.node, row.is_aside = event.node, event.is_sidechain
        if row.kind == "call":
            row.gist = told(opened(row.input), cwd)[:_GIST]
        rows.append(_cut(row, most))


def _cut(row: EventRow, most: int | None) -> EventRow:
    row.length = len(row.text)
    if most is not None and row.length > most:
        row.text = row.text[:most]
    return row


def quiet_row(seq: int, piece: Piece) -> EventRow:
    """The row of a line without anything to show."""
    record = piece.record
    kind: Kind = (
        "broken" if isinstance(record, Broken) else "unknown" if isinstance(record, Unknown) else "quiet"
    )
    return EventRow(seq=seq, n=0, kind=kind, at=piece.at, label=record.kind, text=piece.why or "")


def _row(kind: Kind, **values: Any) -> EventRow:
    return EventRow(seq=0, n=0, kind=kind, **values)


def _prompt(event: PromptGiven) -> list[EventRow]:
    return [_row("prompt", label=event.origin, text=event.text, n_pictures=event.n_images)]


def _injected(event: TextInjected) -> list[EventRow]:
    return [_row("context", label=event.why, text=event.text)]


def _replied(event: ModelReplied) -> list[EventRow]:
    made = []
    if event.thinking or event.has_hidden_thought:
        made.append(_row("thinking", text=event.thinking, model=event.model, request=event.request))
    if event.text.strip():  # an error has no text: RequestFailed covers it
        made.append(
            _row(
                "answer",
                label="synthetic" if event.is_synthetic else "",
                text=event.text,
                model=event.model,
                request=event.request,
            )
        )
    return made


def _called(event: ToolCalled) -> list[EventRow]:
    return [
        _row(
            "call",
            label=event.name,
            call=event.call,
            input=event.input.copy(),
            ran_input=event.ran_input.copy(),
            request=event.request,
        )
    ]


def _returned(event: ToolReturned) -> list[EventRow]:
    return [
        _row(
            "result",
            label=event.said,
            text=event.fullest_text,
            source=event.text_source,
            is_whole=event.is_text_whole,
            call=event.call,
            report=event.report.copy(),
            n_pictures=event.n_images,
            is_bad=event.said not in ("ok", "backgrounded"),
        )
    ]


def _interrupted(event: TurnInterrupted) -> list[EventRow]:
    return [_row("interruption", label="in a tool" if event.in_tool else "")]


def _command(event: CommandRun) -> list[EventRow]:
    line = f"{event.name} {event.arguments}" if event.kind == "slash" else f"!{event.name}"
    return [_row("command", label=event.kind, text=line.strip())]


def _printed(event: CommandPrinted) -> list[EventRow]:
    return [_row("printed", text=event.text, is_bad=event.is_error)] if event.text.strip() else []


def _compacted(event: ContextCompacted) -> list[EventRow]:
    parts = [event.trigger or ""]
    if event.tokens_before is not None:
        parts.append(f"{event.tokens_before:,} tokens before")
    if event.tokens_after is not None:
        parts.append(f"{event.tokens_after:,} after")
    return [_row("compaction", label=", ".join(part for part in parts if part), text=event.summary)]


def _failed(event: RequestFailed) -> list[EventRow]:
    status = "" if event.status is None else str(event.status)
    attempt = (
        ""
        if event.attempt is None
        else f"attempt {event.attempt}" + (f" of {event.of_attempts}" if event.of_attempts else "")
    )
    label = ", ".join(part for part in (status, attempt, "gave up" if event.is_final else "") if part)
    return [_row("failure", label=label, text=event.text, is_bad=True)]


def _hook(event: HookRan) -> list[EventRow]:
    name = " ".join(part for part in (event.hook_event, event.name) if part)
    return [
        _row(
            "hook",
            label=f"{name}: {event.outcome}" if name else event.outcome,
            text=event.text or event.command or "",
            call=event.call,
            is_bad=event.outcome in ("blocked", "error", "failed", "denied"),
        )
    ]


def _titled(event: SessionTitled) -> list[EventRow]:
    return (
        []
        if event.source == "last_prompt"
        else [_row("note", label=f"title ({event.source})", text=event.title)]
    )


def _mode(event: ModeChanged) -> list[EventRow]:
    return [_row("note", label=event.what, text=event.value)]


def _link(event: LinkMade) -> list[EventRow]:
    return [_row("link", label=event.what.replace("_", " "), text=event.target)]


def _queued(event: QueueChanged) -> list[EventRow]:
    return [_row("note", label=f"queue: {event.operation}", text=event.text)] if event.text else []


def _task(event: TaskSeen) -> list[EventRow]:
    text = event.text or event.description or ""
    is_bad = event.end in ("error", "killed")
    return [_row("note", label=f"background: {event.end}", text=text, call=event.call, is_bad=is_bad)]


def _taken_back(event: HistoryRolledBack) -> list[EventRow]:
    text = f"{event.n_turns} turns" if event.n_turns else "to an earlier line"
    return [_row("rollback", label="taken back", text=text)]


def _retracted(event: MessagesRetracted) -> list[EventRow]:
    return [_row("rollback", label="retracted", text=f"{len(event.nodes)} messages: {event.why}")]


def _inherited(event: HistoryInherited) -> list[EventRow]:
    return [_row("link", label=event.why, text=f"from {event.source}" if event.source else "")]


def _strange(event: StrangeSeen) -> list[EventRow]:
    kind: Kind = "broken" if event.kind == "broken" else "unknown"
    return [_row(kind, label=event.kind, text=event.problem, is_bad=True)]


_MADE_BY = cast(
    dict[type[LogEvent], Callable[[LogEvent], list[EventRow]]],
    {
        PromptGiven: _prompt,
        TextInjected: _injected,
        ModelReplied: _replied,
        ToolCalled: _called,
        ToolReturned: _returned,
        TurnInterrupted: _interrupted,
        CommandRun: _command,
        CommandPrinted: _printed,
        ContextCompacted: _compacted,
        RequestFailed: _failed,
        HookRan: _hook,
        SessionTitled: _titled,
        ModeChanged: _mode,
        LinkMade: _link,
        QueueChanged: _queued,
        TaskSeen: _task,
        HistoryRolledBack: _taken_back,
        MessagesRetracted: _retracted,
        HistoryInherited: _inherited,
        StrangeSeen: _strange,
    },
)
