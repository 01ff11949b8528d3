"""What one child does now: a line on stderr that changes, on a terminal only."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracklog.run.child import Child


class ChildLine:
    """The line of one child."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._began = time.monotonic()
        self._is_drawn = False

    def draw(self, child: Child) -> None:
        """Says since when it runs, and what it said last."""
        if not self._is_terminal:
            return
        from rich.cells import set_cell_size

        from tracklog.views.cli.run_many_lines import last_word
        from tracklog.views.cli.times import took

        words = last_word(child.last) if child.last is not None else "starts"
        line = f"● {child.agent}  {took((time.monotonic() - self._began) * 1000)}  {words}"
        width = shutil.get_terminal_size((80, 24)).columns - 1
        sys.stderr.write(f"\r{set_cell_size(line, width)}")
        sys.stderr.flush()
        self._is_drawn = True

    def clear(self) -> None:
        """Takes it away."""
        if self._is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_drawn = False
