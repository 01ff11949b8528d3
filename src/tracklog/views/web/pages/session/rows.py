"""Parts of a session's page: windows of rows, unfolded calls, the next prompt or error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tracklog.app.pages.session import NextLine, NotFound, ShownRow, What, is_quiet
from tracklog.views.html.calls import call_view
from tracklog.views.html.diffs import FOLDED_FROM, MOST_LINES
from tracklog.views.html.rows import row_name, row_views
from tracklog.views.web.frame import environment, text_answer
from tracklog.views.web.pages.session.request import ThreadPage, gone, number_in, opened

WINDOW = 100  # lines
MOST_AT_ONCE = 400


class Folded(NamedTuple):
    """Which rows of a window are left out until the user asks for them."""

    shows_all: bool = False  # also lines that say nothing to a reader
    shows_left: bool = False  # also branches that are not followed
    wanted: int | None = None  # a line that is shown in any case
    has_all_lines: bool = False  # of the changes in a call that is unfolded

    @classmethod
    def asked(cls, request: Request) -> Folded:
        """The setting in an address."""
        asked = request.query_params
        is_whole = _asks_for_all_lines(request)
        return cls(asked.get("all") == "1", asked.get("left") == "1", number_in(request, "want"), is_whole)

    def keeps(self, shown: ShownRow) -> bool:
        """Whether a row is shown."""
        if self.wanted is not None and shown.row.seq <= self.wanted <= max(shown.last_seq, shown.row.seq):
            return True
        is_hidden = (shown.is_left and shown.way is None and not self.shows_left) or (
            is_quiet(shown) and not self.shows_all
        )
        return not is_hidden


def rows(request: Request) -> Response:
    """A window of rows: `from` a line, `n` of them."""
    try:
        with opened(request) as one:
            first = max(number_in(request, "from") or 1, 1)
            n = min(max(number_in(request, "n") or WINDOW, 1), MOST_AT_ONCE)
            html = window_html(one, first, first + n - 1, folded=Folded.asked(request))
            answer = text_answer(html or _why_nothing(one), media_type="text/html")
            answer.headers["X-Lines"] = str(one.n)
            answer.headers["X-Generation"] = str(one.lines.generation)
            return answer
    except NotFound:
        return gone()


def _why_nothing(one: ThreadPage) -> Markup:
    """The notice in place of rows that could not be read."""
    notice = Markup('<p class="notice is-bad">{}</p>')
    return Markup("").join(notice.format(why) for why in one.lines.problems)


def window_html(
    one: ThreadPage, first: int, last: int, *, folded: Folded, open_id: str | None = None
) -> Markup:
    """The rows of some lines; with one call unfolded, if `open_id` names its row."""
    rows = one.rows(first, last)
    shown = [row for row in rows if folded.keeps(row)]
    begins = {
        next((row_name(row.row.seq, row.row.n) for row in shown if row.row.seq >= seq), ""): str(file.path)
        for seq, file in one.lines.begins().items()
        if first <= seq <= last
    }
    unfolded = _unfolded(one, shown, open_id, is_whole=folded.has_all_lines) if open_id else None
    values = {"rows": row_views(shown, lines=one.lines), "begins": begins, "opened": unfolded}
    return Markup(environment().get_template("_rows.html").render(**values, **_addresses(one)).strip())


def _addresses(one: ThreadPage) -> dict[str, Any]:
    address, query = one.address, one.query()
    return {
        "logged": one.head.logged,
        "address": address,
        "open_address": f"{address}{query}",
        "raw_address": f"/raw{address[2:]}{query}",
        "picture_address": f"/picture{address[2:]}{query}",
        "text_address": f"/_{address}/text{query}",
    }


def _unfolded(
    one: ThreadPage, shown: Sequence[ShownRow], id: str, *, is_whole: bool
) -> dict[str, Any] | None:
    """The unfolded call of the row with this name, if it is among these."""
    rows = (row.row for row in shown if row.row.kind == "call")
    row = next((row for row in rows if row_name(row.seq, row.n) == id), None)
    return None if row is None else {"id": id, "html": _call_html(one, row.seq, row.n, is_whole=is_whole)}


def call(request: Request) -> Response:
    """An unfolded call, named by its line and the row in it."""
    try:
        with opened(request) as one:
            seq, n = number_in(request, "seq") or 0, number_in(request, "n") or 0
            html = _call_html(one, seq, n, is_whole=_asks_for_all_lines(request))
            return text_answer(html, media_type="text/html")
    except NotFound:
        return gone()


class Whole(NamedTuple):
    """The addresses with all lines of a call's changes: as the session's page, and as a part of it."""

    page: str
    part: str


def _call_html(one: ThreadPage, seq: int, n: int, *, is_whole: bool) -> Markup:
    detail = one.call(seq, n)
    view = None if detail is None else call_view(detail, lines=one.lines)
    name = row_name(seq, n)
    whole = Whole(
        f"{one.address}{one.query(at=seq, open=name, lines='all').removesuffix('&')}#{name}",
        f"/_{one.address}/call{one.query(seq=seq, n=n, lines='all').removesuffix('&')}",
    )
    most = MOST_LINES if is_whole else FOLDED_FROM
    template = environment().get_template("_call.html")
    return Markup(template.render(call=view, whole=whole, most_lines=most, **_addresses(one)))


def _asks_for_all_lines(request: Request) -> bool:
    return request.query_params.get("lines") == "all"


def next_line(request: Request) -> Response:
    """The next prompt or error `after` a line, or the last one `before` it; `is_sure`: no other can exist."""
    what = request.query_params.get("what")
    if what not in ("prompt", "error"):
        return Response("what is `prompt` or `error`.", status_code=400, media_type="text/plain")
    try:
        with opened(request) as one:
            return JSONResponse(_next(request, one, cast(What, what))._asdict())
    except NotFound:
        return gone()


def _next(request: Request, one: ThreadPage, what: What) -> NextLine:
    return one.next_line(
        what,
        after=number_in(request, "after"),
        before=number_in(request, "before"),
        with_left=Folded.asked(request).shows_left,
    )
