"""A piece of a file as agents read it: each line behind its number. Shown as code, with the numbers beside it.

Rules of this room
  1. Only what is numbered from line to line without a gap is taken for a file; the rest is shown as it came.
  2. The numbers stand in a column of their own: who copies the code copies no numbers.
"""

from __future__ import annotations

import re

from markupsafe import Markup

from tracklog.views.html.code import code
from tracklog.views.html.terminal import terminal

_NUMBERED = re.compile(r" {0,9}([0-9]{1,7})[→\t](.*)")


def numbered(text: str, *, path: str) -> Markup | None:
    """The file's lines in the colours of its language, then what stands behind them; nothing if it has no numbers."""
    lines = text.split("\n")
    first, found = 0, list[str]()
    for line in lines:
        match = _NUMBERED.fullmatch(line.removesuffix("\r"))
        if match is None or (found and int(match[1]) != first + len(found)):
            break
        first = first if found else int(match[1])
        found.append(match[2])
    if not found:
        return None
    numbers = "\n".join(str(n) for n in range(first, first + len(found)))
    column = Markup('<pre class="numbers" aria-hidden="true">{}</pre>').format(numbers)
    block = Markup('<div class="numbered">{}{}</div>').format(column, code("\n".join(found), path=path))
    rest = "\n".join(lines[len(found) :]).strip("\n")
    return block + terminal(rest) if rest else block
