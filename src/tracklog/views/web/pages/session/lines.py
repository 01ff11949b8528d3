"""Single lines of a session: the raw line, whole texts, pictures, and finding words.

Rules
  1. Secrets in a raw line are masked until the user asks to see them.
  2. A picture is one of four kinds, recognised by its first bytes; anything else is never shown. It is a part of one of
     our pages or a download, never a page of its own.
  3. The page of a line holds its text for copying, unless it is long: then it is a download.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tracklog.app.pages.session import NotFound, ThreadLines, find_in
from tracklog.views.html.json_lines import json_lines
from tracklog.views.html.markdown import markdown, up_to_a_line
from tracklog.views.html.pictures import picture_kind, pictures_in
from tracklog.views.html.terminal import terminal
from tracklog.views.web.frame import NextLink, fragment, page, problem, session_address
from tracklog.views.web.pages.session.request import (
    ThreadPage,
    gone,
    not_found,
    number_in,
    opened,
    words_of_missing,
)


def found(lines: ThreadLines, text: str, *, start: int = 1, archive: Path | None = None) -> dict[str, Any]:
    """Lines that contain a text, from `start` on; `to` says how far the search went, `all` whether to the end."""
    answer = find_in(lines, text, start=max(start, 1), archive=archive)
    return {
        "n": lines.n,
        "hits": answer.seqs,
        "counts": answer.counts,
        "to": answer.checked_to,
        "all": answer.is_all,
    }


_PIECE = 100_000  # letters of a text that are sent at once
_MOST_TO_COPY = 1_000_000  # bytes of a line that a page holds in addition to what it shows
_SANDBOX = "default-src 'none'; sandbox"


def raw(request: Request) -> Response:
    """The page of one line."""
    try:
        with opened(request) as one:
            seq = _line_meant(request, one)
            if seq is None:
                return _no_such_line(request, one)
            if request.query_params.get("as") == "file":
                return _raw_file(request, one, seq)
            return page(request, "raw.html", nav="sessions", **_raw_values(request, one, seq))
    except NotFound as missing:
        return not_found(request, missing)


def raw_line(request: Request) -> Response:
    """The raw line alone, without the page."""
    try:
        with opened(request) as one:
            seq = _line_meant(request, one)
            if seq is None:
                return Response("There is no such line.", status_code=404, media_type="text/plain")
            return fragment("_raw.html", **_raw_values(request, one, seq))
    except NotFound:
        return gone()


def _line_meant(request: Request, one: ThreadPage) -> int | None:
    """The line that an address names, by default the first; None if it does not exist."""
    asked = request.query_params
    if asked.get("seq"):
        seq = number_in(request, "seq")
        return seq if seq is not None and 1 <= seq <= one.n else None
    if asked.get("line") or asked.get("file"):
        line = number_in(request, "line") if asked.get("line") else 1
        return None if line is None else one.lines.seq_of(asked.get("file") or None, line)
    return 1


def _no_such_line(request: Request, one: ThreadPage) -> Response:
    """The page for a line that does not exist, with a link to the last one."""
    words = " ".join(words_of_missing(request, one))
    last = NextLink(f"/raw{one.address[2:]}{one.query()}seq={one.n}", f"the last line, {one.n:,}")
    ways = [*([last] if one.n else []), NextLink(f"{one.address}{one.query()[:-1]}", "the session")]
    return problem(request, 404, "There is no such line", words, ways=ways)


def _shows_secrets(request: Request) -> bool:
    return request.query_params.get("secrets") == "shown"


def _raw_file(request: Request, one: ThreadPage, seq: int) -> Response:
    """The bytes of a line as a download: never a page of its own, whatever they are."""
    data = one.lines.raw(seq)
    clean = data if _shows_secrets(request) else one.masked(data)
    name = f'attachment; filename="line-{seq}.txt"'
    headers = {"Content-Security-Policy": _SANDBOX, "Content-Disposition": name}
    return Response(clean, media_type="text/plain; charset=utf-8", headers=headers)


def _raw_values(request: Request, one: ThreadPage, seq: int) -> dict[str, Any]:
    found_one = one.line(seq)
    line = found_one.line if found_one is not None else None
    shows_all = _shows_secrets(request)
    data = line.raw if line is not None else b""
    clean = data if shows_all else one.masked(data)
    is_whole = line is None or line.whole
    address = session_address(one.head.agent, one.head.id)
    query = one.query()
    return {
        "seq": seq,
        "n": one.n,
        "line": line,
        "path": str(found_one.file.path) if found_one is not None else "",
        "html": json_lines(clean),
        "text": clean.decode("utf-8", "replace") if is_whole and len(clean) <= _MOST_TO_COPY else None,
        "is_whole": is_whole,
        "is_masked": clean != data,
        "shows_all": shows_all,
        "address": address,
        "raw_address": f"/raw{address[2:]}{query}",
        "row_address": f"{address}{query}at={seq}#r{seq}",
    }


def text(request: Request) -> Response:
    """A piece of the text whose beginning a row shows, and the link to the next piece."""
    try:
        with opened(request) as one:
            return fragment("_text.html", **_piece_of_text(request, one))
    except NotFound:
        return gone()


def _piece_of_text(request: Request, one: ThreadPage) -> dict[str, Any]:
    asked = request.query_params
    seq, n = _row_named(asked.get("id", ""))
    whole = one.whole_text(number_in(request, "seq") or seq, n, call=asked.get("call"))
    if whole is None:
        return {"html": None, "n_more": 0, "next": ""}
    kind, words = whole
    start = number_in(request, "from") or 0
    piece = up_to_a_line(words[start : start + 2 * _PIECE], _PIECE)
    end = start + len(piece)
    html = markdown(piece, most=_PIECE) if kind == "answer" else terminal(piece)
    query = urlencode({**asked, "from": end})
    return {"html": html, "n_more": len(words) - end, "next": f"/_{one.address}/text?{query}"}


def _row_named(id: str) -> tuple[int, int]:
    """The line and number of a row by its name; zeros for an invalid name."""
    seq, _, n = id.removeprefix("r").partition(".")
    is_name = all(part.isascii() and part.isdigit() and len(part) < 12 for part in (seq, n or "0"))
    return (int(seq), int(n or "0")) if is_name else (0, 0)


def picture(request: Request) -> Response:
    """A picture in a line; opened by itself, a page with the picture."""
    is_opened = request.headers.get("sec-fetch-dest") == "document"
    try:
        with opened(request) as one:
            seq, n = number_in(request, "seq") or 0, number_in(request, "n") or 0
            found_ones = pictures_in(one.lines.raw(seq)) if 1 <= seq <= one.n else []
            data = found_ones[n] if n < len(found_ones) else b""
            kind = picture_kind(data)
            if kind is not None and is_opened:
                return page(request, "picture.html", nav="sessions", **_picture_values(one, seq, n))
    except NotFound as missing:
        return not_found(request, missing) if is_opened else gone()
    if kind is None:
        return Response("There is no picture here.", status_code=404, media_type="text/plain")
    name = f"line-{seq}-picture-{n + 1}.{kind.removeprefix('image/')}"
    headers = {"Content-Security-Policy": _SANDBOX, "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=kind, headers=headers)


def _picture_values(one: ThreadPage, seq: int, n: int) -> dict[str, Any]:
    address, query = session_address(one.head.agent, one.head.id), one.query()
    return {
        "seq": seq,
        "n": n,
        "picture_address": f"/picture{address[2:]}{query}seq={seq}&n={n}",
        "row_address": f"{address}{query}at={seq}#r{seq}",
    }


def find(request: Request) -> Response:
    """The lines that contain some words."""
    try:
        with opened(request) as one:
            words = request.query_params.get("q", "")[:1000]
            start, archive = number_in(request, "from") or 1, one.head.archive
            return JSONResponse(found(one.lines, words, start=start, archive=archive))
    except NotFound:
        return gone()
