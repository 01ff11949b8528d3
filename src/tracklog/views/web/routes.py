"""The table of all addresses."""

from __future__ import annotations

from starlette.routing import BaseRoute, Route

from tracklog.views.web import (
    answering,
    api,
    board,
    calls,
    doctor,
    events,
    foot,
    search,
    session,
    session_lines,
    session_rows,
    session_steps,
    sessions,
    static_files,
)


def routes() -> list[BaseRoute]:
    """What is answered, and by whom."""
    return [
        Route("/", board.board),
        Route("/sessions", sessions.sessions),
        Route("/calls", calls.calls),
        Route("/search", search.search),
        Route("/doctor", doctor.doctor),
        Route("/s/{agent}/{id:path}", session.session),
        Route("/raw/{agent}/{id:path}", session_lines.raw),
        Route("/picture/{agent}/{id:path}", session_lines.picture),
        Route("/answer", answering.answer, methods=["GET", "POST"]),
        Route("/static/{name:path}", static_files.static),
        Route("/_/board", board.rows),
        Route("/_/foot", foot.foot),
        Route("/_/events", events.stream),
        Route("/_/search", search.results),
        Route("/_/palette", search.palette),
        Route("/_/s/{agent}/{id:path}/rows", session_rows.rows),
        Route("/_/s/{agent}/{id:path}/call", session_rows.call),
        Route("/_/s/{agent}/{id:path}/now", session.now),
        Route("/_/s/{agent}/{id:path}/turns", session.turns),
        Route("/_/s/{agent}/{id:path}/where", session.where),
        Route("/_/s/{agent}/{id:path}/raw", session_lines.raw_line),
        Route("/_/s/{agent}/{id:path}/find", session_lines.find),
        Route("/_/s/{agent}/{id:path}/text", session_lines.text),
        Route("/_/s/{agent}/{id:path}/next", session_steps.next_line),
        *api.routes(),
    ]
