"""The frame around every page: templates, the top bar, the foot, and the pages that say what went wrong.

Rules of this room
  1. Templates escape everything; what is HTML already was made by views/html and says so by its type.
  2. Every page stands by itself: it can be read without scripts, and its address says all that it shows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tracklog.views.html.plain import shown
from tracklog.views.web.foot_words import foot_words
from tracklog.views.web.site import site_of

STATIC = Path(__file__).parent / "static"
NAV = (
    ("board", "/", "Board"),
    ("sessions", "/sessions", "Sessions"),
    ("calls", "/calls", "Calls"),
    ("search", "/search", "Search"),
    ("doctor", "/doctor", "Doctor"),
)
_HIDES = re.compile("[\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]")


class Way(NamedTuple):
    """A link that leads on from a page that has nothing to show."""

    address: str
    words: str


_MAIN_WAYS = (
    Way("/", "Board: who needs you, who works"),
    Way("/sessions", "Sessions: all of them"),
    Way("/doctor", "Doctor: what is read, and what is not"),
)


@cache
def environment() -> Environment:
    """The templates of the pages and of the renderer."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader("tracklog.views.web"), PackageLoader("tracklog.views.html")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "static": static_address,
        "nav_words": NAV,
        "session_address": session_address,
        "foot_words": foot_words,
    }
    made.filters["with_code"] = with_code
    made.filters["urlencode"] = quoted
    made.filters["shown"] = shown
    made.filters["unchanged"] = unchanged
    return made


def page(request: Request, template: str, *, nav: str = "", status: int = 200, **values: Any) -> HTMLResponse:
    """A whole page."""
    site = site_of(request)
    framed = {
        "nav": nav,
        "foot": site.indexing.status(),
        "now": site.now(),
        "q": request.query_params.get("q", "") if nav == "search" else "",
        "waiting": site.live.waiting(),
    }
    return HTMLResponse(_rendered(template, framed | values), status_code=status)


def fragment(template: str, **values: Any) -> HTMLResponse:
    """A part of a page."""
    return HTMLResponse(_rendered(template, values))


def text_answer(text: str, *, status: int = 200, media_type: str = "text/plain") -> Response:
    """An answer of text that is made already."""
    return Response(sendable(text), status, media_type=media_type)


def quoted(text: str) -> str:
    """A text as a part of an address; half characters, as names of files have them, are question marks."""
    return quote(text, safe="", errors="replace")


def sendable(text: str) -> bytes:
    """Half a character, as names of files and broken logs have them, is not worth an answer that fails."""
    return text.encode("utf-8", "replace")


def _rendered(template: str, values: Mapping[str, Any]) -> bytes:
    return sendable(environment().get_template(template).render(values))


def problem(
    request: Request, status: int, title: str, text: str, *, ways: Sequence[Way] = ()
) -> HTMLResponse:
    """A page that says what went wrong, and where to go from here."""
    return page(
        request, "problem.html", status=status, code=status, title=title, text=text, ways=ways or _MAIN_WAYS
    )


def with_code(text: str) -> Markup:
    """Words with `commands` in them: what stands between two backticks is set as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    marked = (
        escape(part) if n % 2 == 0 else Markup("<code>{}</code>").format(part) for n, part in enumerate(parts)
    )
    return Markup("").join(marked)


def unchanged(text: str) -> Markup:
    """A text for the value of a form, which sends it back as it is; what hides or moves letters is a reference here."""
    return Markup(_HIDES.sub(lambda char: f"&#x{ord(char[0]):X};", str(escape(text))))


@cache
def static_address(name: str) -> str:
    """The address of a file of ours; another content has another address.

    A script keeps its plain name: modules import one another by it, and by two names it would run twice.
    """
    if name.endswith(".js"):
        return f"/static/{name}"
    mark = blake2b((STATIC / name).read_bytes(), digest_size=6).hexdigest()
    return f"/static/{name}?v={mark}"


def session_address(agent: str, session: str, call: str | None = None) -> str:
    """Where a session is shown; or one of its calls, in whichever thread that stands."""
    address = f"/s/{quote(agent, safe='')}/{quote(session, safe='', errors='surrogateescape')}"
    if call is None:
        return address
    id = quote(call, safe="", errors="surrogateescape")
    return f"{address}?call={id}#c{id}"
