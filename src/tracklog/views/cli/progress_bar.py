"""The bar itself; apart from `progress` because it needs rich."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from rich.console import RenderableType
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from tracklog.views.cli.drawing import console


class PolledProgress(Progress):
    """A bar that asks how far the work is whenever it is drawn."""

    def __init__(self, what: str, total: int, *, done: Callable[[], int]) -> None:
        self._done = done
        self._total = total
        columns = (DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn(compact=True))
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            *columns,
            console=console(sys.stderr),
            transient=True,
        )
        self.add_task(what, total=total)

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.task_ids:
            self.update(task, completed=min(self._done(), self._total))
        yield from super().get_renderables()
