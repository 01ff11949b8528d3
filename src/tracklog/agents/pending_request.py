"""Whether the last turn of a log still waits for an answer: then a request was sent of which no line tells.

Rules
  1. A prompt, or the last result of a request's calls, asks for an answer. So does a notice of the background.
  2. Late clients of Claude Code note each request before they send it (`api-request`): where they do, only that counts.
  3. A client that stops by itself says why: a limit of turns, a hook, an output that was all that was wanted.
"""

from __future__ import annotations

from tracklog.clock import moment_ms
from tracklog.model.events import (
    CommandRun,
    LogEvent,
    ModelReplied,
    PromptGiven,
    RequestFailed,
    TextInjected,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnInterrupted,
)
from tracklog.model.ids import CallId
from tracklog.model.usage import Awaited
from tracklog.sources.files import chunks
from tracklog.sources.lines import cut
from tracklog.sources.log_file import FileKind, LogFile
from tracklog.sources.needles import LinesWith

_ANSWERED = (ModelReplied, RequestFailed, TurnEnded, CommandRun)
_GOES_ON = (PromptGiven, ModelReplied)
_SENT = b'"type":"api-request"'
_STOPPED = (
    "attachment/max_turns_reached",
    "attachment/hook_stopped_continuation",
    "attachment/structured_output",
)
_BEFORE = 1 << 18  # bytes before an answer in which its request is noted


class Waiting:
    """Follows a thread's events; knows whether the model's answer is due."""

    def __init__(self) -> None:
        self.since: LogEvent | None = None
        self._open: set[CallId] = set()

    def see(self, event: LogEvent) -> None:
        """Add the next event."""
        if event.is_copy:
            return
        if isinstance(event, ToolCalled):
            self._open.add(event.call)
            self.since = None
        elif isinstance(event, ToolReturned):
            self._open.discard(event.call or CallId(""))
            self.since = None if self._open else event
        elif isinstance(event, PromptGiven) or _is_notice(event):
            self.since = event
        elif isinstance(event, _ANSWERED) or (isinstance(event, TurnInterrupted) and event.in_tool):
            self.since = None


def _is_notice(event: LogEvent) -> bool:
    return isinstance(event, TextInjected) and event.why == "notification" and event.is_message


def awaited_in(file: LogFile, start: int, *, model: int) -> Awaited | None:
    """The answer that is due at the end of a log of Claude Code, whose last message begins at byte `start`."""
    # readers take long to load, and most sessions wait for nothing
    from tracklog.agents.claude_code.records.reader import READER
    from tracklog.agents.claude_code.translate.translator import ClaudeTranslator

    notes_requests = any(True for _ in LinesWith(chunks(file, max(start - _BEFORE, 0)), _SENT))
    translator, waiting = ClaudeTranslator(str(file.path)), Waiting()
    due: Awaited | None = None
    is_stopped = False
    for piece in READER.read(cut(chunks(file, start))):
        before = waiting.since
        events = [one for one in translator.translate(piece) if _is_of_thread(one, file)]
        for event in events:
            waiting.see(event)
        is_stopped = piece.record.kind in _STOPPED or (
            is_stopped and not any(isinstance(one, _GOES_ON) for one in events)
        )
        if waiting.since is None or is_stopped:
            due = None
        elif notes_requests and _SENT in piece.raw:
            due = Awaited(start + piece.offset, moment_ms(piece.at), model)
        elif not notes_requests and waiting.since is not before:
            due = Awaited(start + piece.offset, moment_ms(waiting.since.at), model)
    return due


def _is_of_thread(event: LogEvent, file: LogFile) -> bool:
    return not event.is_sidechain or file.kind is FileKind.SUBAGENT
