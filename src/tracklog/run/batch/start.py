"""One child of many: in the folder that was named, or in a git worktree of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tracklog.home import Home
from tracklog.ledger.prices.rates import Prices
from tracklog.run import Child, Result, start
from tracklog.run.batch.queue import Running
from tracklog.run.batch.tasks import BatchTask
from tracklog.run.prepare import new_run
from tracklog.run.stream import Heard
from tracklog.run.worktree import Worktree, add, leave


class _InWorktree:
    """A child that works apart. What it has changed stays; a worktree without a change goes."""

    def __init__(self, child: Child, worktree: Worktree) -> None:
        self._child = child
        self._worktree = worktree

    def events(self) -> Iterator[Heard]:
        """What is heard of it."""
        return self._child.events()

    def cancel(self) -> None:
        """Ends it."""
        self._child.cancel()

    def result(self) -> Result:
        """The result, with what became of the worktree. To be asked for once."""
        return Result({**self._child.result().document, "worktree": leave(self._worktree)})


def started(task: BatchTask, home: Home, *, prices: Callable[[], Prices]) -> Running:
    """Starts the child of a task; the prices are read once for all."""
    run = new_run()
    if not task.in_worktree:
        return start(task.request, home=home, run=run, prices=prices)
    worktree = add(Path(task.request.cwd), home, run)
    try:
        request = task.request._replace(cwd=worktree.cwd, trusted_as=task.request.cwd)
        child = start(request, home=home, run=run, prices=prices)
    except BaseException:
        leave(worktree)
        raise
    return _InWorktree(child, worktree)
