"""Render Markdown of people and models as safe HTML, and decide which addresses become links.

Rules
  1. Raw HTML is text. The parser's output is filtered by an allowlist of tags and attributes.
  2. Nothing is fetched: a picture is shown as its words and its address.
  3. A link leads to a named host in the world, by http, https or mail. An address of this machine, a number, or our own
     pages is text: a log could plant a link that acts.
  4. A link does not lie: when its words name another host than its address, the address is shown next to it.
  5. Nothing is lost: what would take too long, nests too deep or is too long is shown as plain text, and what is left
     out is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import nh3
from markupsafe import Markup, escape

from tracklog.views.html.cache import Remembered
from tracklog.views.html.code import CLASSES, LANGUAGES, code, language_of
from tracklog.views.html.legible import legible
from tracklog.views.html.markdown_cost import MOST_COLOURED, easy_part

if TYPE_CHECKING:
    from markdown_it import MarkdownIt  # pages without prose need none
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token


_HOST = r"(?:[a-z0-9_-]{1,63}\.){1,20}[a-z][a-z0-9-]{1,62}"
_OUTSIDE = re.compile(rf"https?://(?P<host>{_HOST})(?::\d{{1,5}})?(?:[/?#].*)?", re.IGNORECASE | re.DOTALL)
_MAIL = re.compile(rf"mailto:[^\s@?]{{1,100}}@{_HOST}(?:\?.*)?", re.IGNORECASE)
_NAMED = re.compile(rf"(?:https?://|www\.)(?P<host>{_HOST})", re.IGNORECASE)
_BARE = re.compile(r"https?://[^\s<>\"'`|\\^{}]{1,2000}", re.IGNORECASE)
_CLOSERS = {")": "(", "]": "["}
_LONGEST = 4_000


def leads_away(address: str) -> bool:
    """Whether an address leads to another host, so that it may be a link."""
    if len(address) > _LONGEST:
        return False
    return _MAIL.fullmatch(address) is not None or _host(address) is not None


def misleads(words: str, address: str) -> bool:
    """Whether the words of a link name another host than its address."""
    named = _NAMED.search(words[:_LONGEST])
    return named is not None and _plain_name(named["host"]) != _plain_name(_host(address) or "")


def link(address: str, words: str | Markup, *, title: str = "") -> Markup:
    """A link to an address that passed `leads_away`."""
    return Markup('<a href="{}" title="{}">{}</a>').format(address, f"{address} {title}".rstrip(), words)


def linked(text: str) -> Markup:
    """The text, with addresses in it as links."""
    return Markup("").join(_linked(text)) if "://" in text else escape(text)


def _linked(text: str) -> Iterator[Markup]:
    done = 0
    for found in _BARE.finditer(text):
        address = _without_what_follows(found[0])
        if leads_away(address):
            yield escape(text[done : found.start()])
            yield link(address, address)
            done = found.start() + len(address)
    yield escape(text[done:])


def _without_what_follows(address: str) -> str:
    """An address without a full stop or bracket at its end, which belongs to the sentence."""
    while address:
        last = address[-1]
        opener = _CLOSERS.get(last)
        is_loose = opener is not None and address.count(last) > address.count(opener)
        if last not in ".,:;!?*_~" and not is_loose:
            break
        address = address[:-1]
    return address


def _host(address: str) -> str | None:
    found = _OUTSIDE.fullmatch(address)
    if found is None or found["host"].lower().endswith(".localhost"):
        return None
    return found["host"].lower()


def _plain_name(host: str) -> str:
    return host.lower().removeprefix("www.")


MOST_LETTERS = 100_000
_DEEPEST = 20
_SCHEMES = {"http", "https", "mailto"}
_PIPE = re.compile(r"(?<!\\)\|")
_PREFIX = re.compile(r"[ \t>]*")
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_CELLS = {"th", "td"}
_PLAIN_TAGS = {
    "p",
    "ul",
    "ol",
    "li",
    "blockquote",
    "em",
    "strong",
    "s",
    "hr",
    "br",
    "pre",
    "code",
    "span",
    "a",
}
_TABLE_TAGS = {"table", "thead", "tbody", "tr", *_CELLS}
TAGS = frozenset(_PLAIN_TAGS | _TABLE_TAGS | _HEADINGS)
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_SIDES = {"left", "right", "center"}
_remembered = Remembered(16_000_000)


class Rendered(NamedTuple):
    """A text as HTML, and the number of letters left out."""

    html: Markup
    n_left: int


def markdown(text: str, *, most: int = MOST_LETTERS) -> Markup:
    """The text as HTML; its last line counts the letters beyond `most`."""
    html, n_left = markdown_part(text, most=most)
    if not n_left:
        return html
    return Markup('{}<p class="left" data-left="{}">… {:,} letters more</p>').format(html, n_left, n_left)


def markdown_part(text: str, *, most: int = MOST_LETTERS) -> Rendered:
    """The text as HTML up to a line end within `most` letters, and the number of letters left out."""
    part = up_to_a_line(text, most)
    return Rendered(_remembered.get(part, None, lambda: _rendered(legible(part))), len(text) - len(part))


def up_to_a_line(text: str, most: int) -> str:
    """The beginning of a text, up to the last line end within `most` letters, or just `most` letters."""
    if len(text) <= most:
        return text
    end = text.rfind("\n", most // 2, most)
    return text[: end + 1 if end >= 0 else most]


def plain(text: str) -> Markup:
    """The text unformatted, line by line."""
    return Markup('<pre class="plain">{}{}</pre>').format("\n" if text.startswith("\n") else "", text)


def _rendered(text: str) -> Markup:
    easy = easy_part(text)
    formatted = _formatted(easy) if easy else None
    if formatted is None:
        return plain(text) if text else Markup("")
    rest = text[len(easy) :]
    return formatted + plain(rest) if rest else formatted


def _formatted(text: str) -> Markup | None:
    """The text as HTML; None if it nests too deep, because the parser leaves out what is inside."""
    parser = _parser()
    tokens = parser.parse(text)
    if any(token.level >= _DEEPEST - 1 for token in tokens):
        return None
    html = parser.renderer.render(tokens, parser.options, {"coloured": 0, "links": []})
    return Markup(_cleaner().clean(html))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # pages without prose need none

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST})
    parser.enable(["table", "strikethrough"])
    parser.disable("reference")  # it hides addresses: what defines them is left out of the text
    parser.core.ruler.before("inline", "surplus_cells", _keep_surplus_cells)
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005  # judged when shown
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


@cache
def _cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=set(TAGS),
        attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
        allowed_classes={
            "pre": {"code", "plain"},
            "code": {f"language-{name}" for name in LANGUAGES},
            "span": {"image", "address", *CLASSES},
            **{cell: {f"to-{side}" for side in _SIDES} for cell in _CELLS},
        },
        url_schemes=_SCHEMES,
        url_relative="deny",
        link_rel="noreferrer noopener nofollow",
    )


def _fence(
    _renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: object, env: dict[str, Any]
) -> str:
    token = tokens[at]
    language, _, more = token.info.strip().partition(" ")
    env["coloured"] += len(token.content)
    block = code(token.content, language=language if env["coloured"] <= MOST_COLOURED else None)
    return _words_of_a_fence(language, more) + block + "\n"


def _words_of_a_fence(language: str, more: str) -> Markup:
    """The words after a fence that are no language, which would be hidden otherwise."""
    hidden = f"{language} {more}" if more else "" if language_of(language, None) else language
    return Markup('<p><span class="address">{}</span></p>').format(hidden) if hidden else Markup("")


def _image(_renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: object, _env: object) -> str:
    token = tokens[at]  # its content are its words as they were written: they may hold addresses themselves
    called = " ".join(filter(None, [token.content, str(token.attrs.get("title") or "")]))
    return Markup('<span class="image">image: {} ({})</span>').format(called, token.attrs.get("src") or "")


def _link_open(
    _renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: object, env: dict[str, Any]
) -> str:
    address = str(tokens[at].attrs.get("href") or "")
    env["links"].append(at)
    if not leads_away(address):
        return '<span class="address">'
    return Markup('<a href="{}" title="{}">').format(address, _address_and_title(tokens[at]))


def _link_close(
    _renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: object, env: dict[str, Any]
) -> str:
    opened = env["links"].pop()
    address = str(tokens[opened].attrs.get("href") or "")
    words = "".join(token.content for token in tokens[opened:at])
    if not leads_away(address):
        beside = _address_and_title(tokens[opened])
        return Markup(" ({})</span>").format(beside) if beside != words else "</span>"
    return Markup("</a> ({})").format(address) if misleads(words, address) else "</a>"


def _address_and_title(token: Token) -> str:
    return f"{token.attrs.get('href') or ''} {token.attrs.get('title') or ''}".strip()


def _text(
    _renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: object, env: dict[str, Any]
) -> str:
    text = tokens[at].content
    return escape(text) if env["links"] else linked(text)


def _cell(_renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: object, _env: object) -> str:
    token = tokens[at]
    side = str(token.attrs.get("style") or "").removeprefix("text-align:")
    return f'<{token.tag} class="to-{side}">' if side in _SIDES else f"<{token.tag}>"


def _keep_surplus_cells(state: StateCore) -> None:
    """Adds cells beyond the table's head, which the parser leaves out, to the last cell."""
    lines = state.src.split("\n")
    columns, cell, row = 0, 0, ""
    for token in state.tokens:
        if token.type == "thead_open":
            columns = 0
        elif token.type == "th_open":
            columns += 1
        elif token.type == "tr_open" and token.map:
            cell, row = 0, lines[token.map[0]]
        elif token.type == "td_open":
            cell += 1
        elif token.type == "inline" and cell and cell == columns:
            token.content = " | ".join(filter(None, [token.content, *_cells(row)[columns:]]))
        elif token.type == "tr_close":
            cell = 0


def _cells(row: str) -> list[str]:
    cells = [cell.strip() for cell in _PIPE.split(_PREFIX.sub("", row).strip())]
    return cells[1 if cells[0] == "" else 0 : len(cells) - (cells[-1] == "")]


_RULES = {
    "image": _image,
    "fence": _fence,
    "code_block": _fence,
    "link_open": _link_open,
    "link_close": _link_close,
    "text": _text,
    "th_open": _cell,
    "td_open": _cell,
}
