"""Wait for a child: a line on stderr says what it does, on a terminal only; signals end it.

Signals are noted while children run, and obeyed when nothing is in our hands that could be lost.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tracklog.views.text.printing import talk

if TYPE_CHECKING:
    from tracklog.app.run.child import Child, Result

# Lazy imports: rich is needed only where progress is drawn.


class ChildLine:
    """The line of one child."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._began = time.monotonic()
        self._is_drawn = False

    def draw(self, child: Child) -> None:
        """Show how long it has run, and what it said last."""
        if not self._is_terminal:
            return
        from rich.cells import set_cell_size

        from tracklog.views.cli.commands.run.progress_lines import last_word
        from tracklog.views.text.numbers import took

        words = last_word(child.last) if child.last is not None else "starts"
        line = f"● {child.agent}  {took((time.monotonic() - self._began) * 1000)}  {words}"
        width = shutil.get_terminal_size((80, 24)).columns - 1
        sys.stderr.write(f"\r{set_cell_size(line, width)}")
        sys.stderr.flush()
        self._is_drawn = True

    def clear(self) -> None:
        """Remove the line."""
        if self._is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_drawn = False


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_heard() -> Iterator[list[int]]:
    """The signals that came, which do nothing else."""
    heard: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield heard
        return
    meant = [
        number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN
    ]  # `nohup` stays in force
    before = {number: signal.signal(number, lambda number, _frame: heard.append(number)) for number in meant}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_REDRAW_S = 0.25


def awaited(begin: Callable[[], Child]) -> Result:
    """Start a child and wait for its result; the first signal ends it gently, the second at once."""
    with signals_heard() as heard:
        child, line = begin(), ChildLine()
        while (result := child.wait(_REDRAW_S)) is None:
            if heard:
                heard.pop()
                line.clear()
                talk("tracklog: ending the child; once more kills it at once")
                child.cancel()
            line.draw(child)
        line.clear()
    return result
