"""One child from the command line: asked for, waited for, its result printed.

Rules
  1. On stdout stands the final text, or the result as JSON, and nothing else.
  2. Ctrl-C and SIGTERM end the child in the proper way first; a second time at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracklog.errors import NotThere, UserError
from tracklog.home import Home, tilde
from tracklog.model.run_request import Agent, RunRequest
from tracklog.run.launch import start
from tracklog.run.prepare import ask_for_trust, new_run
from tracklog.run.request import AGENTS as AGENTS
from tracklog.run.request import checked, fenced, with_context
from tracklog.run.trust import Untrusted, trust
from tracklog.views.cli.commands.run.await_child import awaited, signals_heard
from tracklog.views.cli.commands.run.option_values import ChildOptions
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import answer, answer_json, safe, safe_lines, short, talk

if TYPE_CHECKING:
    from tracklog.run.result import Result


_RISKS_SHOWN = 20


def request_from(given: ChildOptions, agent: Agent, prompt: str, cwd: Path, **others: Any) -> RunRequest:
    """The request that the options make; raises UserError for what makes no sense."""
    values = {**given.values, **others}
    return checked(RunRequest(agent=agent, prompt=prompt, cwd=cwd, limits=given.limits, **values))


def run_child(request: RunRequest, given: ChildOptions, ours: Home, *, as_json: bool) -> int:
    """Runs a child to its end and prints the result; returns the exit code that says how it went."""
    if given.is_detached and given.has_worktree:
        raise UserError("--detach and --worktree: only one of them; nobody would be there to clean it up")
    request = trusted(request, ours)
    if given.is_detached:
        from tracklog.views.cli.commands.run.detach import start_detached

        start_detached(request, ours, as_json=as_json)
        return 0
    run = new_run()
    result = _result_in_worktree(request, ours, run) if given.has_worktree else result_of(request, ours, run)
    show_result(result, as_json=as_json)
    return result.code


def result_of(request: RunRequest, ours: Home, run: str) -> Result:
    """Starts a child and waits for its result, whatever signals come."""
    with signals_heard() as heard:
        return awaited(start(request, home=ours, run=run), heard)


def trusted(request: RunRequest, ours: Home) -> RunRequest:
    """The request, if its folder may be worked in; on a terminal, its user is asked."""
    try:
        ask_for_trust(request, ours, os.environ)
    except Untrusted as error:
        if not _is_trusted_now(error):
            raise
        note = trust(
            ours, Path(request.trusted_as or request.cwd), error.risks
        )  # these, and not what may come later
        if note is not None:
            talk(f"tracklog: {safe(note)}")
    return request


def _is_trusted_now(error: Untrusted) -> bool:
    for risk in error.risks[:_RISKS_SHOWN]:
        talk(f"  {tilde(risk.path)}: {safe(risk.what)}: {short(risk.detail, 120)}")
    if len(error.risks) > _RISKS_SHOWN:
        talk(f"  … and {len(error.risks) - _RISKS_SHOWN} more")
    if sys.stdin is None or not (os.isatty(sys.stdin.fileno()) and sys.stderr.isatty()):
        return False
    import click

    return click.confirm("This folder's own settings would do that. Trust it?", default=False, err=True)


def show_result(result: Result, *, as_json: bool) -> None:
    """Print it, and on stderr why it is no success."""
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


def _result_in_worktree(request: RunRequest, ours: Home, run: str) -> Result:
    """The result of a child that works apart; what it changed stays there."""
    from tracklog.run.worktree import add, leave

    worktree = add(Path(request.cwd), ours, run)
    if worktree.note:
        talk(f"tracklog: {safe(worktree.note)}")
    try:
        apart = request._replace(cwd=worktree.cwd, trusted_as=request.cwd)
        result = result_of(trusted(apart, ours), ours, run)  # what is committed may be something else
    finally:
        left = leave(worktree)
    if left["kept"]:
        talk(f"tracklog: the work is in {tilde(left['path'])}, branch {safe(left['branch'])}")
    return type(result)({**result.document, "worktree": left})


def prompt_with_contexts(prompt: str, given: ChildOptions, home: Path | None) -> str:
    """The prompt, with the final texts of other sessions before it."""
    if not given.contexts:
        return prompt
    return with_context(prompt, [fenced(id, text) for id, text in _texts(given.contexts, home)])


def _texts(contexts: tuple[str, ...], home: Path | None) -> Iterator[tuple[str, str]]:
    from tracklog.app.scope.filters import Filters
    from tracklog.app.scope.read_sessions import Stories

    stories = Stories((), agent=None, filters=Filters(), home=home, talk=STDERR)
    for name in contexts:
        story = stories.named(name)
        if story.final is None or not story.final.text.strip():
            raise NotThere(f"the last request of {name} has no text to begin from")
        yield story.id, story.final.final_text


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UserError("the folder that you are in is gone: name another with --cwd") from error


def folder_of(given: ChildOptions, cwd: str | None = None) -> Path:
    """The folder to work in: as told, else the session's own, else this one."""
    if given.cwd is not None:
        return given.cwd
    if cwd is None:
        return _here()
    if not os.path.isdir(cwd):
        raise UserError(f"{cwd}, where the session worked, is gone: name another folder with --cwd")
    return Path(cwd)
