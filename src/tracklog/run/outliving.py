"""What still runs of a run whose tracklog was killed: its keeper ends it, and is given the time for that."""

from __future__ import annotations

import time

from tracklog.run.keeping import Tree
from tracklog.run.private import is_kept
from tracklog.run.register import Run
from tracklog.store.home import Home

_KEEPER_S = 20.0  # it interrupts, terminates and kills within eight seconds, and gives up ten seconds later
_LOOK_S = 0.02


def await_end(run: Run, home: Home) -> None:
    """Comes back when nothing of a run can write or spend any more. One whose tracklog lives is left alone."""
    if run.ended is not None or run.alive().life == "alive":
        return
    until = time.monotonic() + _KEEPER_S
    while is_kept(home, run.id) and time.monotonic() < until:
        time.sleep(_LOOK_S)
    Tree(mark=run.id).kill()  # its keeper was killed as well
