"""Answer permission requests of sessions started with `tracklog run --ask-here`, shown whole first.

Rules
  1. Nobody allows what they have not seen: the answer carries a digest of the question as it was shown, and a question
     that has changed since, was answered or is gone accepts none. What cannot be shown whole cannot be allowed here.
  2. The first answer counts, wherever it was given. The page says what became of it.
  3. Only a POST answers; the guard has checked that it comes from our own page.
"""

from __future__ import annotations

from typing import NamedTuple, cast
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from tracklog.app.run.answer import (
    MOST_REASON,
    AnswerOutcome,
    OpenPermissionRequest,
    Verdict,
    answer_request,
    digest_of,
    is_own,
    open_request,
)
from tracklog.views.html.legible import shown, spelled
from tracklog.views.web.frame import NextLink, page, problem, session_address
from tracklog.views.web.pages.board.page import lasted
from tracklog.views.web.site import site_of

_FORM = "application/x-www-form-urlencoded"
_VERDICTS = ("allow", "deny")
_WHOLE = 1 << 30  # letters: nobody allows what they have not seen
_LONGEST_FORM = 16 * MOST_REASON  # bytes: a letter takes up to twelve
_BOARD = NextLink("/", "Back to the board")
_GONE = "It was answered elsewhere, its time is over, or its session has ended. Nothing was answered here."
_NOT_TAKEN: dict[AnswerOutcome, tuple[str, str]] = {
    "late": (
        "Too late",
        "Nobody waits for this answer any more: the client has gone its own way. It was taken back.",
    ),
    "answered": (
        "Too late",
        "Somebody else answered it first; that answer counts, and this one was not given.",
    ),
    "changed": (
        "The question has changed",
        "It is not the question that was shown to you. Nothing was answered: look at it again.",
    ),
    "own": (
        "Not from here",
        "A session does not answer its own questions: this server was started by it. Answer from elsewhere.",
    ),
    "cut": (
        "Too long to be allowed here",
        "Only its beginning is known here, and nobody allows what they have not seen. Answer it in its terminal.",
    ),
}


class _Given(NamedTuple):
    """The answer in a form, and the question that it is for."""

    run: str
    id: str
    seen: str
    verdict: Verdict
    reason: str | None


async def answer(request: Request) -> Response:
    """`/answer`: shows the question, or what became of the answer."""
    if request.method == "POST":
        body = await request.body()
        return await run_in_threadpool(_answered, request, body)
    return await run_in_threadpool(_shown, request)


def _shown(request: Request) -> Response:
    """The page that shows what is to be allowed."""
    wanted = request.query_params
    ask = open_request(site_of(request).home, wanted.get("run", ""), wanted.get("id", ""))
    if ask is None:
        return _gone(request)
    now_ms = int(site_of(request).now().timestamp() * 1000)
    return page(
        request,
        "answer.html",
        nav="board",
        ask=ask,
        tool=shown(ask.tool, most=_WHOLE) or "a tool without a name",
        cwd=shown(ask.cwd) if ask.cwd else None,
        mode=shown(ask.mode, most=60) if ask.mode else None,
        subagent=shown(ask.thread, most=80) if ask.thread else None,
        session=shown(ask.session, most=80),
        address=_address(ask),
        given=[(shown(name, most=_WHOLE), spelled(value)) for name, value in ask.shown()],
        digest=digest_of(ask),
        verdict=wanted.get("verdict"),
        is_own=is_own(ask),
        left=lasted(ask.until_ms - now_ms),
        most_reason=MOST_REASON,
    )


def _answered(request: Request, body: bytes) -> Response:
    given = _read(request, body)
    if given is None:
        words = "Open the question on the board, and answer there."
        return problem(request, 400, "That is no answer", words, ways=[_BOARD])
    ask = open_request(site_of(request).home, given.run, given.id)
    if ask is None:
        return _gone(request)
    outcome = answer_request(ask, given.verdict, reason=given.reason, shown=given.seen)
    if outcome != "taken":
        title, words = _NOT_TAKEN[outcome]
        is_late = outcome in ("late", "answered")
        return problem(request, 409, title, words, ways=[_BOARD, *([_to_session(ask)] if is_late else [])])
    title = "Allowed" if given.verdict == "allow" else "Denied"
    words = f"{shown(ask.tool, most=60)} {shown(' '.join(ask.gist.split()), most=200)}".strip()
    return page(
        request, "answered.html", nav="board", title=title, what=words, ways=[_BOARD, _to_session(ask)]
    )


def _read(request: Request, body: bytes) -> _Given | None:
    """The values of the form; None if it is not ours."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM or len(body) > _LONGEST_FORM:
        return None
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=8)
    except ValueError:  # no text, or too many fields
        return None
    fields = dict(pairs)
    if len(fields) != len(pairs) or fields.get("verdict") not in _VERDICTS:
        return None
    reason = fields.get("reason", "").strip()[:MOST_REASON] or None
    verdict = cast(Verdict, fields["verdict"])
    return _Given(fields.get("run", ""), fields.get("id", ""), fields.get("seen", ""), verdict, reason)


def _gone(request: Request) -> Response:
    return problem(request, 409, "This question is not open any more", _GONE, ways=[_BOARD])


def _address(ask: OpenPermissionRequest) -> str:
    """The address of its session's page; that of all sessions if its id is not printable."""
    return session_address(ask.agent, ask.session) if ask.session.isprintable() else "/sessions"


def _to_session(ask: OpenPermissionRequest) -> NextLink:
    return NextLink(_address(ask), "To the session")
