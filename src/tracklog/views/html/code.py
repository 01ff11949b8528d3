"""Code as it is read: words in colours by what they are.

Rules of this room
  1. Every letter of the code is in the output, in its order. What cannot be coloured is shown without colours.
  2. Time and size are bounded: a lexer is asked as long as there is time, the rest of the code stays plain.
  3. Classes, never styles: which colour a class has is said in static/code.css.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from markupsafe import Markup, escape
from pygments.token import Token, _TokenType

from tracklog.views.html.languages import language_of, lexer
from tracklog.views.html.plain import legible
from tracklog.views.html.remembered import Remembered

MOST_COLOURED = 60_000
MOST_SPANS = 2_000
LONGEST_LINE = 2_000
MOST_SECONDS = 0.25

_CLASSES = {
    Token.Comment: "c",
    Token.Comment.Preproc: "d",
    Token.Comment.PreprocFile: "s",
    Token.Keyword: "k",
    Token.Keyword.Constant: "b",
    Token.Keyword.Type: "y",
    Token.Literal.String: "s",
    Token.Literal.String.Doc: "c",
    Token.Literal.String.Escape: "d",
    Token.Literal.String.Interpol: "d",
    Token.Literal.Number: "m",
    Token.Literal.Date: "m",
    Token.Name.Attribute: "a",
    Token.Name.Builtin: "b",
    Token.Name.Class: "y",
    Token.Name.Constant: "b",
    Token.Name.Decorator: "d",
    Token.Name.Exception: "y",
    Token.Name.Function: "f",
    Token.Name.Tag: "k",
    Token.Operator.Word: "k",
    Token.Generic.Deleted: "gd",
    Token.Generic.Inserted: "gi",
    Token.Generic.Heading: "h",
    Token.Generic.Subheading: "h",
    Token.Generic.Prompt: "c",
}
CLASSES = frozenset(_CLASSES.values())

Piece = tuple[str, str]  # class, or nothing, and text

_remembered = Remembered(4_000_000)


def code(text: str, *, language: str | None = None, path: str | None = None) -> Markup:
    """A block of code, in colours where its language is known."""
    name = language_of(language, path)
    return _remembered.get(text, name, lambda: _block(legible(text), name))


def _block(text: str, name: str | None) -> Markup:
    inner = coloured(text, name) if name and is_colourable(text) else escape(text)
    kind = Markup(' class="language-{}"').format(name) if name else ""
    return Markup('<pre class="code"><code{}>{}</code></pre>').format(kind, inner)


def is_colourable(text: str) -> bool:
    """Whether a lexer is to be asked: not about much, and not about lines that no person writes."""
    return len(text) <= MOST_COLOURED and max(map(len, text.split("\n"))) <= LONGEST_LINE


def coloured(text: str, name: str) -> Markup:
    """The text with the words in classes that have one; `name` is that of a lexer of ours."""
    return Markup("".join(_spans(_merged(_lexed(text, name)))))


def _spans(pieces: Iterable[Piece]) -> Iterator[str]:
    n_spans = 0
    for kind, text in pieces:
        if kind and n_spans < MOST_SPANS:
            n_spans += 1
            yield f'<span class="{kind}">{escape(text)}</span>'
        else:
            yield escape(text)


def _merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    held_kind, held = "", ""
    for kind, text in pieces:
        if kind == held_kind or text.isspace():
            held += text
        else:
            yield held_kind, held
            held_kind, held = kind, text
    yield held_kind, held


def _lexed(text: str, name: str) -> Iterator[Piece]:
    tokens, done = lexer(name).get_tokens_unprocessed(text), 0
    until = (
        time.thread_time() + MOST_SECONDS
    )  # of our own work: what others do meanwhile takes no colours away
    try:
        for at, kind, piece in tokens:
            if at != done or not text.startswith(piece, done) or time.thread_time() > until:
                break
            yield _class_of(kind), piece
            done += len(piece)
    except Exception:  # a lexer of others stumbles over what is no code: the rest is shown without colours
        pass
    yield "", text[done:]


def _class_of(kind: _TokenType | None) -> str:
    while kind is not None:
        if found := _CLASSES.get(kind):
            return found
        kind = kind.parent
    return ""
