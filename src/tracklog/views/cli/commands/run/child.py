"""Run one child from the command line, wait for it and print its result.

Rules
  1. stdout gets the final text, or the result as JSON, and nothing else.
  2. Ctrl-C and SIGTERM end the child gently first; a second time at once. Signals are noted while children run, and
     obeyed when nothing is in our hands that could be lost.
  3. A line on stderr says what the child does, on a terminal only.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracklog.app.run.child import Risk, checked, run_child, with_final_texts
from tracklog.errors import UserError
from tracklog.home import Home, tilde
from tracklog.model.run_request import Agent, RunRequest
from tracklog.views.cli.commands.run.option_values import ChildOptions
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import answer, answer_json, safe, safe_lines, short, talk

if TYPE_CHECKING:
    from tracklog.app.run.child import Child, Result

# Lazy imports: loaded in front of every run, which needs no options and no supervisor of its own; rich only where progress is drawn.

_RISKS_SHOWN = 20
_REDRAW_S = 0.25
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def request_from(given: ChildOptions, agent: Agent, prompt: str, cwd: Path, **others: Any) -> RunRequest:
    """The request that the options make; raises UserError if it cannot be carried out."""
    values = {**given.values, **others}
    return checked(RunRequest(agent=agent, prompt=prompt, cwd=cwd, limits=given.limits, **values))


def run_one(request: RunRequest, given: ChildOptions, ours: Home, *, as_json: bool) -> int:
    """Run a child to its end and print the result; returns the exit code that says how it went."""
    if given.is_detached:
        _detach(request, given, ours, as_json=as_json)
        return 0
    result = run_child(
        request, ours, confirm=confirmed, wait=awaited, talk=STDERR, in_worktree=given.has_worktree
    )
    show_result(result, as_json=as_json)
    return result.code


def confirmed(risks: Sequence[Risk]) -> bool:
    """Show what a folder would execute, and ask the user on a terminal whether to trust it."""
    for risk in risks[:_RISKS_SHOWN]:
        talk(f"  {tilde(risk.path)}: {safe(risk.what)}: {short(risk.detail, 120)}")
    if len(risks) > _RISKS_SHOWN:
        talk(f"  … and {len(risks) - _RISKS_SHOWN} more")
    if sys.stdin is None or not (os.isatty(sys.stdin.fileno()) and sys.stderr.isatty()):
        return False
    import click

    return click.confirm("This folder's own settings would do that. Trust it?", default=False, err=True)


def _detach(request: RunRequest, given: ChildOptions, ours: Home, *, as_json: bool) -> None:
    if given.has_worktree:
        raise UserError("--detach and --worktree: only one of them; nobody would be there to clean it up")
    from tracklog.app.run.detached import start_detached

    found = start_detached(request, ours, confirm=confirmed, wait=awaited, talk=STDERR)
    if as_json:
        answer_json(found._asdict())
    else:
        answer(str(found.session_id or found.run))


def show_result(result: Result, *, as_json: bool) -> None:
    """Print a result, and on stderr why it is no success."""
    try:
        _answer(result, as_json=as_json)
    except BrokenPipeError:  # our reader is gone; the exit code still says how it ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    for problem in result.document["problems"]:
        talk(f"tracklog: {safe(problem)}")
    if not result.is_success:
        talk(f"tracklog: {result.ended_by}: {short(safe(result.why), 400)}")


def _answer(result: Result, *, as_json: bool) -> None:
    if as_json:
        answer_json(result.document)
    elif result.text is not None and (result.is_success or result.text.strip() != result.why.strip()):
        answer("\n".join(safe_lines(result.text)))
    sys.stdout.flush()


def prompt_with_contexts(prompt: str, given: ChildOptions, home: Path | None) -> str:
    """The prompt with the final texts of other sessions before it."""
    return with_final_texts(prompt, given.contexts, home, talk=STDERR)


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UserError("the folder that you are in is gone: name another with --cwd") from error


def folder_of(given: ChildOptions, cwd: str | None = None) -> Path:
    """The folder to work in: the given one, else the session's own, else this one."""
    if given.cwd is not None:
        return given.cwd
    if cwd is None:
        return _here()
    if not os.path.isdir(cwd):
        raise UserError(f"{cwd}, where the session worked, is gone: name another folder with --cwd")
    return Path(cwd)


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
