"""What lines are written on: a terminal of some width, or a pipe."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

import click

from tracklog.views.cli.printing import in_colour

_LEAST = 30  # columns that text keeps on the narrowest terminal


class Paper(NamedTuple):
    """What is written on."""

    width: int | None  # None: a pipe
    is_coloured: bool

    @classmethod
    def of_stdout(cls) -> Paper:
        """As wide as the terminal, coloured if colours are welcome."""
        is_terminal = sys.stdout.isatty()
        width = max(os.get_terminal_size(sys.stdout.fileno()).columns, _LEAST) if is_terminal else None
        return cls(width, in_colour(sys.stdout))

    def painted(self, text: str, **style: object) -> str:
        """The safe text in a style, where there is colour."""
        return click.style(text, **style) if self.is_coloured and text else text  # type: ignore[arg-type]

    def room(self, used: int) -> int | None:
        """What is left of a line."""
        return None if self.width is None else max(self.width - used, _LEAST // 2)
