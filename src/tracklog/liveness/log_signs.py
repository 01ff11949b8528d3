"""What a session does by its log alone: the newest sign of one thread's events.

Rules
  1. A prompt, a result, a notice of the background make the model think. A call without a result is being worked on.
  2. A turn ends where the log says so: the client closes it, the person interrupts it, the model gives its reason to stop,
     or calls its words the final answer (Codex, whose `task_complete` is missing when the client ends first).
     Where an answer gives no reason (older clients write none), ten seconds of silence say it.
  3. A prompt that is a command of the client, such as `/exit`, asks nothing of the model.
  4. Lines come late and out of order, by up to a quarter of a second: a sign is never older than the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tracklog.clock import NO_TIME, moment_ms
from tracklog.model.events import (
    HookRan,
    LogEvent,
    ModelReplied,
    NodeSeen,
    PromptGiven,
    RequestFailed,
    SessionDescribed,
    TaskSeen,
    TextInjected,
    ToolCalled,
    ToolReturned,
    TurnBegan,
    TurnEnded,
    TurnInterrupted,
)
from tracklog.model.records import opened
from tracklog.model.states import THINKING, Sign, asked_by, not_ahead, told_call

UNSAID_MS = 10_000  # an answer without a reason to stop was the last when nothing follows for so long
_GOES_ON = ("tool_use", "pause_turn")
_BY_COMMAND = ("slash", "shell")
_MOST_OVER = 64  # calls whose end is remembered within a turn


class LogSign(NamedTuple):
    """The newest sign of a log, whenever it is asked for."""

    sign: Sign
    is_unsaid: bool = False  # the answer gave no reason to stop

    def at(self, now_ms: int) -> Sign:
        """The sign as it counts now."""
        if self.is_unsaid and now_ms - self.sign.at_ms > UNSAID_MS:
            return self.sign._replace(state="idle", doing=None)
        return self.sign


class LogSigns:
    """Follows the events of one thread; feed it in one go or as the log grows."""

    def __init__(self, *, is_subagent: bool = False) -> None:
        self._is_subagent = is_subagent
        self._sign: Sign | None = None
        self._is_unsaid = False
        self._tells_turns = False
        self._open: dict[str, ToolCalled] = {}
        self._over: dict[str, None] = {}
        self._background: set[str] = set()
        self._cwd: str | None = None
        self._seen_ms: int | None = None
        self._written_ms: int | None = None

    def add(
        self, events: Iterable[LogEvent], *, seen_ms: int | None = None, written_ms: int | None = None
    ) -> None:
        """Add what happened next. A time ahead of when it was seen counts as that, or as when the log was written."""
        self._seen_ms = seen_ms
        self._written_ms = written_ms
        for event in events:
            if event.is_copy or (event.is_sidechain and not self._is_subagent):
                continue  # another file's, or an old client's subagent in the main file
            self._add(event)

    def sign(self, now_ms: int) -> Sign | None:
        """The newest sign; None while the log has said nothing of what is done."""
        newest = self.newest()
        return newest.at(now_ms) if newest is not None else None

    def newest(self) -> LogSign | None:
        """The newest sign, to be asked later; None while the log has said nothing of what is done."""
        if self._sign is None:
            return None
        sign = self._sign._replace(open_calls=tuple(self._open), over=frozenset(self._over))
        if sign.call is not None:  # made only when asked for: a log may hold many thousands of calls
            called = self._open[sign.call]
            sign = sign._replace(doing=told_call(called.name, opened(called.input), self._cwd))
        return LogSign(sign, self._is_unsaid)

    def _add(self, event: LogEvent) -> None:
        match event:
            case ToolCalled(is_server_side=False):
                self._open[event.call] = event
                self._work(event)
            case ToolReturned():
                self._close(event)
            case PromptGiven() if event.origin not in _BY_COMMAND:
                self._prompted(event)
            case TextInjected(why="notification", is_message=True):
                self._work(event)
            case TurnBegan():
                self._tells_turns = True
                self._forget_calls()
                self._work(event)
            case ModelReplied():
                self._reply(event)
            case TurnEnded() | TurnInterrupted():
                self._rest(event)
            case RequestFailed():
                self._rest(event) if event.is_final else self._work(event)
            case HookRan(hook_event="Stop", outcome="blocked"):
                self._work(event)
            case HookRan(outcome="stopped") | NodeSeen(kind="attachment/max_turns_reached"):
                self._rest(event)
            case TaskSeen():
                self._task(event)
            case SessionDescribed(cwd=str(cwd)):
                self._cwd = self._cwd or cwd
            case _:
                pass  # titles, modes, notes: they say nothing of what is done

    def _prompted(self, event: PromptGiven) -> None:
        if event.origin != "queued" and not self._tells_turns:
            self._forget_calls()  # of a run that was killed; nobody can prompt past an open call
        self._work(event)

    def _close(self, event: ToolReturned) -> None:
        call = event.call or ""
        self._open.pop(call, None)
        self._over[call] = None
        while len(self._over) > _MOST_OVER:
            del self._over[next(iter(self._over))]
        if event.said == "backgrounded" and (event.task or event.agent):
            self._background.add(event.task or event.agent or "")
        self._work(event)

    def _reply(self, event: ModelReplied) -> None:
        reason = event.stop_reason
        if event.is_synthetic or event.is_last or (reason is not None and reason not in _GOES_ON):
            self._rest(event)
            return
        self._work(event)
        self._is_unsaid = bool(reason is None and event.text and not self._open and not self._tells_turns)

    def _task(self, event: TaskSeen) -> None:
        if event.end != "running":
            self._background.discard(event.task or "")
            if self._sign is not None and not self._background:
                self._sign = self._sign._replace(has_background=False)

    def _work(self, event: LogEvent) -> None:
        asking = next((call for call, called in self._open.items() if asked_by(called.name)), None)
        call = asking or next(iter(self._open), None)
        asks = asked_by(self._open[call].name) if call else None
        self._say(
            Sign(
                "log",
                "waiting" if asks else "working",
                self._moment(event),
                doing=None if call else THINKING,
                call=call,
                waiting_for=asks,
                where=f"log line {event.place.line}",
            )
        )

    def _rest(self, event: LogEvent) -> None:
        """The turn is over; lines that only say so once more do not make it begin later."""
        self._over.update(dict.fromkeys(self._open))
        self._open.clear()
        rests = self._sign if self._sign and self._sign.state == "idle" else None
        self._say(
            Sign(
                "log",
                "idle",
                rests.at_ms if rests else self._moment(event),
                where=rests.where if rests else f"log line {event.place.line}",
                has_background=bool(self._background),
            )
        )

    def _say(self, sign: Sign) -> None:
        self._sign = sign
        self._is_unsaid = False

    def _forget_calls(self) -> None:
        self._open.clear()
        self._over.clear()

    def _moment(self, event: LogEvent) -> int:
        before = self._sign.at_ms if self._sign else 0
        at = moment_ms(event.at)
        if at == NO_TIME:
            return before
        return max(before, at if self._seen_ms is None else not_ahead(at, self._seen_ms, self._written_ms))
