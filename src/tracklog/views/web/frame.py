"""Render pages and parts of pages: templates, the top bar, the status bar, error pages.

Rules
  1. Templates escape everything; what is HTML already was made by views/html and says so by its type.
  2. Every page is complete by itself: it can be read without scripts, and its address says all that it shows.
  3. The status bar never claims more than is known: after a failed pass nothing is up to date.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tracklog.views.html.legible import shown
from tracklog.views.web.site import site_of

if TYPE_CHECKING:
    from tracklog.app.index.background import IndexStatus


Tone = Literal["calm", "warn", "bad"]
_NOT_WORTH_SAYING_MS = 1_000
_LONGEST_WHY = 160
_STAGES = {"settling": "putting sessions together", "counting": "counting what they cost"}


class FootWords(NamedTuple):
    """The status of the index, for the bar at the foot of a page."""

    tone: Tone
    what: str
    how_far: str = ""
    done: int | None = None  # bytes of a first reading, for a bar
    total: int = 0
    why: str = ""
    n_problems: int = 0

    @property
    def tone_word(self) -> str:
        """The tone in a word, for readers who do not see colours."""
        return "failed" if self.tone == "bad" else "attention"


def foot_words(status: IndexStatus) -> FootWords:
    """The status of the index in words."""
    said, why = _said(status), _short(status.why or "")
    if why and status.state == "reading":
        said, why = said._replace(tone="warn"), f"the reading before failed: {why}"
    return said._replace(why=why, n_problems=len(status.problems))


def _said(status: IndexStatus) -> FootWords:
    match status.state:
        case "failed":
            what = f"the last reading failed, it is tried again · {_counted(status)}"
            return FootWords("bad", what, _behind(status))
        case "busy":
            return FootWords(
                "warn", f"another process writes the index · {_counted(status)}", _behind(status)
            )
        case "reading" if status.is_first:
            return _first(status)
        case "none":
            return FootWords("calm", "nothing indexed yet")
        case _:
            return FootWords("calm", _counted(status), _behind(status))


def _first(status: IndexStatus) -> FootWords:
    """Progress of the first indexing; the newest logs are read first, so their sessions can be used already."""
    if not status.bytes_total:
        return FootWords("calm", "looking for logs")
    what = _STAGES.get(status.stage, "indexing, newest first")
    if status.files:
        what = f"{what} · {status.files:,}/{status.files_known:,} files"
    done = min(status.bytes_done, status.bytes_total)
    return FootWords("calm", what, f"{_size(done)} of {_size(status.bytes_total)}", done, status.bytes_total)


def _counted(status: IndexStatus) -> str:
    if not status.files_known:
        return "no logs found" if status.state == "fresh" else "nothing indexed yet"
    return f"indexed {status.files:,}/{status.files_known:,} files"


def _behind(status: IndexStatus) -> str:
    if status.behind_ms >= _NOT_WORTH_SAYING_MS:
        return f"{_span(status.behind_ms)} behind"
    return "up to date" if status.state == "fresh" else ""


def _span(ms: int) -> str:
    seconds = ms // 1000
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h" if seconds < 172_800 else f"{seconds // 86_400} days"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST_WHY else line[: _LONGEST_WHY - 1] + "…"


STATIC = Path(__file__).parent / "static"
NAV = (
    ("board", "/", "Board"),
    ("sessions", "/sessions", "Sessions"),
    ("calls", "/calls", "Calls"),
    ("search", "/search", "Search"),
    ("doctor", "/doctor", "Doctor"),
)
_HIDES = re.compile("[\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]")


class NextLink(NamedTuple):
    """A link that a page without content offers."""

    address: str
    words: str


_MAIN_WAYS = (
    NextLink("/", "Board: who needs you, who works"),
    NextLink("/sessions", "Sessions: all of them"),
    NextLink("/doctor", "Doctor: what is read, and what is not"),
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
    """A response with a finished text."""
    return Response(sendable(text), status, media_type=media_type)


def quoted(text: str) -> str:
    """A text as a part of an address; lone surrogates, as in names of files, become question marks."""
    return quote(text, safe="", errors="replace")


def sendable(text: str) -> bytes:
    """A text as bytes; lone surrogates, as in names of files and broken logs, must not make a response fail."""
    return text.encode("utf-8", "replace")


def _rendered(template: str, values: Mapping[str, Any]) -> bytes:
    return sendable(environment().get_template(template).render(values))


def problem(
    request: Request, status: int, title: str, text: str, *, ways: Sequence[NextLink] = ()
) -> HTMLResponse:
    """A page that says what went wrong, with links that lead on."""
    return page(
        request, "problem.html", status=status, code=status, title=title, text=text, ways=ways or _MAIN_WAYS
    )


def with_code(text: str) -> Markup:
    """A text with the parts between two backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    marked = (
        escape(part) if n % 2 == 0 else Markup("<code>{}</code>").format(part) for n, part in enumerate(parts)
    )
    return Markup("").join(marked)


def unchanged(text: str) -> Markup:
    """A text for a form field, which sends it back unchanged; hidden characters are written as references."""
    return Markup(_HIDES.sub(lambda char: f"&#x{ord(char[0]):X};", str(escape(text))))


@cache
def static_address(name: str) -> str:
    """The address of a static file, which changes with its content.

    A script keeps its plain name: modules import one another by it, and with two names it would run twice.
    """
    if name.endswith(".js"):
        return f"/static/{name}"
    mark = blake2b((STATIC / name).read_bytes(), digest_size=6).hexdigest()
    return f"/static/{name}?v={mark}"


def session_address(agent: str, session: str, call: str | None = None) -> str:
    """The address of a session's page, or of one of its calls, in whichever thread."""
    address = f"/s/{quote(agent, safe='')}/{quote(session, safe='', errors='surrogateescape')}"
    if call is None:
        return address
    id = quote(call, safe="", errors="surrogateescape")
    return f"{address}?call={id}#c{id}"


def foot(request: Request) -> HTMLResponse:
    """The current status bar, for pages that are open already."""
    site = site_of(request)
    return fragment("_foot.html", foot=site.indexing.status(), waiting=site.live.waiting())
