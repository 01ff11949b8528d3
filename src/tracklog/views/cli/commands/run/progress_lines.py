"""Show the progress of many children: on a terminal a few changing lines, elsewhere a line for each child that ended.

Rules
  1. Everything goes to stderr. The changing lines are removed before a result is printed: both may be one terminal.
  2. No text of a child reaches the terminal unescaped, and no line is longer than the terminal is wide.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tracklog.views.text.numbers import money, took
from tracklog.views.text.printing import excerpt, safe, talk

if TYPE_CHECKING:
    from tracklog.app.run.child import RunEvent
    from tracklog.app.run.many import Slot, TaskOutcome, TaskQueue

_REDRAW_S = 0.25
_WORD = 200  # letters of what a child said last
_PICO = 1_000_000  # in a micro-dollar


@dataclass
class Tally:
    """Counts the tasks that ended, and how."""

    n_tasks: int
    ended: dict[str, str] = field(default_factory=dict)  # by id: those of earlier calls, too
    n_new: int = 0
    began: float = field(default_factory=time.monotonic)

    def add(self, answer: TaskOutcome) -> None:
        """Add an outcome."""
        self.ended[answer.task.id] = answer.result.ended_by
        self.n_new += 1

    @property
    def n_failed(self) -> int:
        """The number of tasks that ended without success."""
        return sum(how != "completed" for how in self.ended.values())

    def left_ms(self, n_to_do: int) -> float | None:
        """The estimated time for the rest."""
        if not self.n_new:
            return None
        return (time.monotonic() - self.began) * 1000 / self.n_new * n_to_do


class ProgressDisplay:
    """Shows a tally."""

    def __init__(self, many: TaskQueue, tally: Tally) -> None:
        self._many = many
        self._tally = tally
        self._is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._n_lines = 0
        self._next_at = 0.0

    def tick(self) -> None:
        """Redraw when it is time."""
        now = time.monotonic()
        if self._is_terminal and now >= self._next_at:
            self._next_at = now + _REDRAW_S
            self._draw()

    def clear(self) -> None:
        """Remove the changing lines."""
        if self._n_lines:
            sys.stderr.write(f"\x1b[{self._n_lines}A\x1b[J")
            sys.stderr.flush()
            self._n_lines = 0
            self._next_at = 0.0

    def show_end(self, answer: TaskOutcome) -> None:
        """Print that a task ended, unless the changing lines show it."""
        if not self._is_terminal:
            talk(f"{len(self._tally.ended)}/{self._tally.n_tasks} {ended_line(answer)}")

    def _draw(self) -> None:
        from rich.cells import cell_len, set_cell_size  # only for wide letters

        size = shutil.get_terminal_size((80, 24))
        lines = [head_line(self._tally, self._many), *map(slot_line, self._many.running)][: size.lines - 1]
        width = size.columns - 1
        cut = [line if cell_len(line) <= width else set_cell_size(line, width - 1) + "…" for line in lines]
        self.clear()
        sys.stderr.write("".join(f"{line}\n" for line in cut))
        sys.stderr.flush()
        self._n_lines = len(cut)


def head_line(tally: Tally, many: TaskQueue) -> str:
    """The summary in one line."""
    running = many.running
    n_to_do = many.n_left + len(running)
    left_ms = tally.left_ms(n_to_do)
    parts = [
        f"{len(tally.ended) - tally.n_failed} done",
        f"{tally.n_failed} failed",
        f"{len(running)} running",
        f"{many.n_left} left",
        money(many.spent_micro_usd * _PICO),
        *([f"about {took(left_ms)} to go"] if left_ms is not None and n_to_do else []),
    ]
    return " · ".join(parts)


def slot_line(slot: Slot) -> str:
    """The line of a running task."""
    now = time.monotonic()
    again = f" (try {slot.n_tries})" if slot.n_tries > 1 else ""
    if slot.waits_until is not None:
        word = f"tries again in {took(max(slot.waits_until - now, 0) * 1000)}"
    else:
        word = last_word(slot.last) if slot.last is not None else "starts"
    return f"  {excerpt(slot.task.id, 30)}  {took((now - slot.since) * 1000)}{again}  {word}"


def ended_line(answer: TaskOutcome) -> str:
    """The line of a task that ended."""
    result = answer.result
    ms = result.document.get("duration_ms")
    parts = [
        result.ended_by,
        money(answer.cost_micro_usd * _PICO),
        *([took(ms)] if isinstance(ms, (int, float)) else []),
        *([f"{len(answer.attempts)} tries"] if len(answer.attempts) > 1 else []),
        *([excerpt(result.why, _WORD)] if not result.is_success else []),
    ]
    return f"{safe(answer.task.id)}: {', '.join(parts)}"


def last_word(event: RunEvent) -> str:
    """The last text or call of a child, in a few escaped words."""
    for part in _parts(event.document):
        text = part.get("text") or part.get("command")
        if isinstance(text, str) and text.strip():
            return excerpt(text, _WORD)
        if isinstance(name := part.get("name"), str):
            given = part.get("input")
            words = (
                [value for value in given.values() if isinstance(value, str)]
                if isinstance(given, dict)
                else []
            )
            return excerpt(" ".join([name, *words[:1]]), _WORD)
    return excerpt(event.what, _WORD)


def _parts(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The parts of a message: blocks of Claude Code, the item of Codex; the last one first."""
    message, item = document.get("message"), document.get("item")
    content = message.get("content") if isinstance(message, dict) else [item]
    blocks = content if isinstance(content, list) else []
    return [block for block in reversed(blocks) if isinstance(block, dict)]
