"""Which line the keys for the next prompt and the next error lead to."""

from __future__ import annotations

from typing import cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tracklog.pipeline.session_steps import NextLine, What
from tracklog.pipeline.session_steps import next_line as line_behind
from tracklog.views.web.session_asked import NotFound, Opened, gone, number_in, opened
from tracklog.views.web.session_rows import Folded


def next_line(request: Request) -> Response:
    """The line of the next prompt or error `after` a line, or of the last one `before` it; `is_sure`: none is unknown."""
    what = request.query_params.get("what")
    if what not in ("prompt", "error"):
        return Response("what is `prompt` or `error`.", status_code=400, media_type="text/plain")
    try:
        with opened(request) as one:
            return JSONResponse(_next(request, one, cast(What, what))._asdict())
    except NotFound:
        return gone()


def _next(request: Request, one: Opened, what: What) -> NextLine:
    if one.database is None:
        return NextLine()
    return line_behind(
        one.database.db,
        one.head,
        one.reading,
        what,
        after=number_in(request, "after"),
        before=number_in(request, "before"),
        seen=None if Folded.asked(request).shows_left else one.seen(),
    )
