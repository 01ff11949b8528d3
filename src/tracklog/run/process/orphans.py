"""End what still runs of runs whose tracklog was killed. Usually the keeper does, and is given the time for that."""

from __future__ import annotations

import os
import time

from tracklog.home import Home
from tracklog.live.run_entries import RunEntry
from tracklog.run.process.private_dir import are_all_dead, is_kept, left_folders
from tracklog.run.process.supervise import MARK, Tree
from tracklog.supervisor import clear_folder

_KEEPER_S = 20.0  # it interrupts, terminates and kills within eight seconds, and gives up ten seconds later
_LOOK_S = 0.02


def await_end(run: RunEntry, home: Home) -> None:
    """Comes back when nothing of a run can write or spend any more. One whose tracklog lives is left alone."""
    if run.ended is not None or run.alive().life == "alive":
        return
    until = time.monotonic() + _KEEPER_S
    while is_kept(home, run.id) and time.monotonic() < until:
        time.sleep(_LOOK_S)
    Tree(mark=run.id).kill()  # its keeper was killed as well


def sweep(home: Home) -> int:
    """Remove the folders of runs that nobody keeps any more, and kill what still runs of them; how many folders.

    That is what is left when tracklog and its keeper were killed together. A run that we are a part of ourselves is not
    killed.
    """
    n_cleared = 0
    for folder in left_folders(home):
        if are_all_dead(folder) and folder.name != os.environ.get(MARK):
            Tree(mark=folder.name).kill()
        n_cleared += clear_folder(str(folder))
    return n_cleared
