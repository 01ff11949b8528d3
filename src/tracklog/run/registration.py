"""Register a run: that it begins, what its session is called, how it ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.errors import why_failed
from tracklog.run.prepare import Prepared

if TYPE_CHECKING:
    from tracklog.run.result import Result

# Lazy imports: the register of runs loads while the client starts.


class RunRegistration:
    """Writes the register; a failure is a problem in the result, and does not stop the run."""

    def __init__(self, prepared: Prepared, env: Mapping[str, str]) -> None:
        self._prepared = prepared
        self._env = env  # the caller's environment, which shows whose child we are
        self._is_begun = False
        self.problems: list[str] = []

    def started(self) -> None:
        """Register the beginning, once. The pid is ours: when we die, the child ends."""
        from tracklog.run import parent as run_parent

        if self._is_begun:
            return
        self._is_begun = True

        prepared, request = self._prepared, self._prepared.request
        how = "fork" if request.is_fork else "resume" if request.resume else "run"
        path = prepared.logs.path_of(prepared.session) if prepared.session and request.persists else None
        parent = run_parent.parent_of_us(self._env, home=prepared.home)
        word = run_parent.Started(
            run=prepared.run,
            at=run_parent.now_text(),
            agent=request.agent,
            session=prepared.session,
            transcript_path=str(path) if path is not None else None,
            cwd=str(request.cwd),
            how=how,
            from_=request.resume,
            parent_run=run_parent.parent_run_of_us(self._env),
            parent=parent,
            batch=request.batch,
            pid=os.getpid(),
            pid_start=run_parent.start_mark(os.getpid()),
            name=request.name,
        )
        self._tell(lambda: run_parent.note_started(prepared.home, word))

    def named(self, session: str, path: Path | None) -> None:
        """Register the session that the client has named."""
        from tracklog.run import parent as run_parent

        word = run_parent.SessionNamed(
            run=self._prepared.run,
            at=run_parent.now_text(),
            session=session,
            transcript_path=str(path) if path is not None else None,
        )
        self._tell(lambda: run_parent.note_named(self._prepared.home, word))

    def ended(self, result: Result | None) -> None:
        """Register the end, if the beginning was registered."""
        from tracklog.run import parent as run_parent

        if not self._is_begun:
            return
        document = result.document if result is not None else {}
        session = result.session if result is not None else None
        word = run_parent.Ended(
            run=self._prepared.run,
            at=run_parent.now_text(),
            ended_by=document.get("ended_by", "crashed"),
            session=session,
            transcript_path=document.get("transcript_path"),
            exit_code=document.get("exit_code"),
            cost_micro_usd=document.get("cost_micro_usd"),
        )
        self._tell(lambda: run_parent.note_ended(self._prepared.home, word))

    def _tell(self, note: Callable[[], None]) -> None:
        try:
            note()
        except OSError as error:
            self.problems.append(f"the register of runs was not written: {why_failed(error)}")
