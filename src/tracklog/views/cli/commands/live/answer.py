"""`tracklog answer`: list the permissions that sessions ask for, and give or deny them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import click

from tracklog.app.run.answer import (
    AnswerOutcome,
    OpenPermissionRequest,
    Verdict,
    answer_request,
    is_own,
    open_requests,
)
from tracklog.errors import NOT_FINE, UserError
from tracklog.home import Home, tracklog_home
from tracklog.views.cli.options import home_option, json_option
from tracklog.views.text.numbers import took
from tracklog.views.text.printing import answer as tell
from tracklog.views.text.printing import answer_json, excerpt, safe, safe_lines, short_id, talk

_WIDTH = 100
_MOST_LINES = 40
_WIDEST = 2_000
_FATES: dict[AnswerOutcome, str] = {
    "late": "nobody waits for this answer any more: the client has gone its own way",
    "answered": "somebody else has answered it",
}


@click.command
@click.argument("session", required=False)
@click.argument("verdict", type=click.Choice(["allow", "deny"]), required=False)
@click.option("--reason", metavar="TEXT", help="With deny: what the model is told.")
@click.option("--call", metavar="ID", help="Which question, where a session has several open.")
@home_option
@json_option
def answer(
    session: str | None,
    verdict: str | None,
    reason: str | None,
    call: str | None,
    home: Path | None,
    as_json: bool,
) -> None:
    """Allow or deny what a session started with `run --ask-here` asks for.

    SESSION is an id or the start of one, of the session or of its run, or @last: the one that asked last. Without a
    verdict the open questions are listed, without SESSION those of all sessions. The first answer counts. Exits with
    1 if there is no such question, or nobody waits for its answer any more.

    \b
    tracklog answer
    tracklog answer @last allow
    tracklog answer 3f2a deny --reason "not on this branch"
    """
    asks = open_requests(Home(tracklog_home(home)), session, call=call)
    if verdict is None:
        _list(asks, as_json=as_json)
        return
    _answer(_the_one(asks), cast(Verdict, verdict), reason=reason, as_json=as_json)


def _the_one(asks: Sequence[OpenPermissionRequest]) -> OpenPermissionRequest:
    if len(asks) > 1:
        listed = "; ".join(f"--call {ask.id} for {ask.tool} {excerpt(ask.gist, _WIDTH)}" for ask in asks)
        raise UserError(f"several questions are open, choose one: {listed}")
    if is_own(asks[0]):
        raise UserError("a session does not answer its own questions: answer from outside of it")
    return asks[0]


def _answer(ask: OpenPermissionRequest, verdict: Verdict, *, reason: str | None, as_json: bool) -> None:
    if reason is not None and verdict == "allow":
        talk("tracklog: the client takes no reason with an allow: the model will not read it")
    fate = answer_request(ask, verdict, reason=reason)
    if as_json:
        answer_json(
            {**_document(ask), "verdict": verdict, "reason": reason, "taken": fate == "taken", "fate": fate}
        )
    elif fate == "taken":
        tell(
            f"{'allowed' if verdict == 'allow' else 'denied'}: {safe(ask.tool)} {excerpt(ask.gist, _WIDTH)}".rstrip()
        )
    if fate != "taken":
        talk(f"tracklog: {_FATES[fate]}")
        raise click.exceptions.Exit(NOT_FINE)


def _list(asks: Sequence[OpenPermissionRequest], *, as_json: bool) -> None:
    if as_json:
        answer_json({"asks": [_document(ask) for ask in asks]})
        return
    if not asks:
        talk("tracklog: no session asks for anything")
    for n, ask in enumerate(asks):
        tell(("\n" if n else "") + "\n".join(_lines(ask)))


def _document(ask: OpenPermissionRequest) -> dict[str, Any]:
    return {
        "id": ask.id,
        "agent": ask.agent,
        "session": ask.session,
        "run": ask.run,
        "thread": ask.thread or "main",
        "cwd": ask.cwd,
        "mode": ask.mode,
        "tool": ask.tool,
        "input": ask.input,
        "input_is_cut": ask.is_cut,
        "suggestions": ask.suggestions,
        "at": _moment(ask.at_ms),
        "until": _moment(ask.until_ms),
        "path": str(ask.place),
    }


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _lines(ask: OpenPermissionRequest) -> Iterator[str]:
    """A request for people: session, tool, its time and the time left, and the whole input."""
    now_ms = time.time() * 1000
    whose = f" (subagent {safe(short_id(ask.thread))})" if ask.thread else ""
    yield f"{safe(short_id(ask.session))}{whose} asks for {safe(ask.tool)}, --call {safe(ask.id)}"
    since, left = took(max(now_ms - ask.at_ms, 0)), took(max(ask.until_ms - now_ms, 0))
    yield f"  asked {since} ago, waits for {left} more" + (f", in {safe(ask.cwd)}" if ask.cwd else "")
    given = [line for name, value in ask.shown() for line in _named_lines(name, value)]
    yield from given[:_MOST_LINES]
    if len(given) > _MOST_LINES:
        yield f"  … {len(given) - _MOST_LINES} more lines: --json shows them"
    if ask.is_cut:
        yield f"  … THIS IS ONLY THE BEGINNING: all of it is {ask.input_bytes:,} bytes"


def _named_lines(name: str, value: str) -> list[str]:
    first, *others = [_cut(line) for line in safe_lines(value)]
    label = f"  {safe(name)}: " if name else "  "
    return [f"{label}{first}", *(f"{' ' * len(label)}{line}" for line in others)]


def _cut(line: str) -> str:
    """Cut a long line of an input, and say so."""
    return (
        line
        if len(line) <= _WIDEST
        else f"{line[:_WIDEST]} … {len(line) - _WIDEST} more letters: --json shows them"
    )
