"""State of the translation of one Codex file, kept from line to line.

Rules
  1. What is remembered depends on the lines alone, never on how they arrive: cut anywhere, the events are the same.
  2. A file holds a prompt up to three times. The mirrors (`user_message`, `UserMessage`) are the client's word
     for what a person said, but they come after the response item: so that is held until its mirror comes, or the
     model speaks. In a file without mirrors the response item itself is the prompt.
  3. A log names no request. All that the model says between two things that it is shown is one; its id is made of
     the thread and the line of its first item, and never changes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tracklog.model.events import LogEvent, Origin, Place, PromptGiven, TextInjected
from tracklog.model.ids import CallId, RequestId, TaskId
from tracklog.model.records import Piece

Where = dict[str, Any]


class OpenCall(NamedTuple):
    """A call whose output has not come yet."""

    name: str
    server: str | None = None
    task: TaskId | None = None  # the session, or the script, that it asks about
    epoch: int = 0  # in which turn it was made


class Prompts:
    """Deduplicate prompts and their mirrors."""

    def __init__(self) -> None:
        self._held: list[PromptGiven] = []
        self._has_mirrors: bool | None = None
        self._last: str | None = None  # the prompt that was given last, until the model speaks

    def heard(self, prompt: PromptGiven, *, has_no_mirror: bool) -> list[LogEvent]:
        """A response item in the user's name, in words that nobody else writes."""
        if has_no_mirror or (self._has_mirrors is False and self._last != prompt.text):
            self._last = prompt.text
            return [prompt]
        if self._last == prompt.text and not self._held:  # the mirror came first
            self._last = None
            return []
        self._held.append(prompt)
        return []

    def mirrored(self, prompt: PromptGiven) -> list[LogEvent]:
        """What the client shows as the person's words."""
        knew, self._has_mirrors = self._has_mirrors, True
        of = [held for held in self._held if held.text.strip() == prompt.text.strip()] or self._held[-1:]
        if of:
            self._held.remove(of[0])
        elif (
            self._last == prompt.text
        ):  # shown twice, or given already in a file that seemed to have no mirrors
            return []
        self._last = None if of or knew is False else prompt.text
        return [prompt]

    def settle(self) -> list[LogEvent]:
        """The model speaks: what is still held has no mirror."""
        self._last = None
        if not self._held:
            return []
        held, self._held = self._held, []
        if self._has_mirrors:
            return [_injected(prompt) for prompt in held]
        self._has_mirrors = False
        return list(held)


class Memory:
    """All state of one file's translation."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.thread: str | None = None
        self.agent_path: str | None = None
        self.origin: Origin = "typed"
        self.own_from_ordinal: int | None = None
        self.turn: str | None = None
        self.model: str | None = None
        self.effort: str | None = None
        self.modes: dict[str, str] = {}
        self.described: dict[str, Any] = {}
        self.prompts = Prompts()
        self.calls: dict[CallId, OpenCall] = {}
        self.script: CallId | None = None  # the last script of code mode
        self.nested: set[CallId] = set()  # calls that scripts made
        self.searches: list[tuple[CallId, Any]] = []  # ends of searches whose call is yet to come
        self.is_reviewing = False
        self.is_after_review = False  # the client words the review's findings in the model's name
        self.is_cut_in_tool = False
        self.is_turn_over = False
        self.epoch = 0  # counts turns, and prompts in files that have no turns
        self.n_pictures_due = 0  # that the client shows in the user's name, after `view_image`
        self.n_picture_mirrors_due = 0
        self.mail_triggers = False
        self.mark = "1"
        self.ordinal: int | None = None
        self.is_bare = False
        self.is_summary = False  # of a model's answer that becomes the summary of a compaction
        self._request: RequestId | None = None

    def arrive(self, piece: Piece) -> None:
        """Takes note of the line that is read now."""
        self.mark = f"{piece.line}.{piece.offset}" if piece.recovered else str(piece.line)
        self.ordinal = getattr(piece.record, "ordinal", None)

    def where(self, piece: Piece) -> Where:
        """The place of that line's events."""
        return {"place": Place(self.path, piece.line), "at": piece.at, "turn": self.turn}

    @property
    def name(self) -> str:
        """The thread, or the file where no line has named it."""
        return self.thread or self.path.rpartition("/")[2].partition(".")[0]

    @property
    def is_inherited(self) -> bool:
        """Whether the line is a copy of another thread's, by the log's own word."""
        if self.ordinal is None or self.own_from_ordinal is None:
            return False
        return self.ordinal < self.own_from_ordinal

    @property
    def rollout(self) -> str:
        """The file: a thread that was rolled back goes on in another one, whose lines count from 1 again."""
        stem = self.path.rpartition("/")[2].partition(".")[0]
        return f"{self.name}_{stem.partition('_')[2]}" if "_" in stem and self.thread else self.name

    def request(self) -> RequestId:
        """The request to which a model's item on this line belongs."""
        if self._request is None:
            self._request = RequestId(f"{self.rollout}:{self.mark}")
        return self._request

    def end_request(self) -> None:
        """What the model says from here on answers another request."""
        self._request = None

    def begin_epoch(self) -> None:
        """A turn begins, or a prompt is given."""
        self.epoch += 1
        self.is_cut_in_tool = self.is_turn_over = False

    @property
    def is_in_tool(self) -> bool:
        """Whether a call of this turn was cut short, or has no output yet."""
        return self.is_cut_in_tool or any(call.epoch == self.epoch for call in self.calls.values())

    def made_id(self, kind: str) -> CallId:
        """An id for a call that the log gives none."""
        return CallId(f"{kind}:{self.name}:{self.mark}")

    def is_foreign(self, thread: str | None) -> bool:
        """Whether an act is another thread's, told here too."""
        return thread is not None and self.thread is not None and thread != self.thread


def _injected(prompt: PromptGiven) -> LogEvent:
    where: Where = {"place": prompt.place, "at": prompt.at, "turn": prompt.turn}
    return TextInjected(**where, why="unmirrored", text=prompt.text)
