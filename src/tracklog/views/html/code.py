"""Render code with syntax colours, and numbered excerpts of files as agents read them.

Rules
  1. Every letter of the code is in the output, in its order. What cannot be coloured is shown without colours.
  2. Time and size are bounded: a lexer runs as long as there is time, the rest of the code stays plain.
  3. Classes, never styles: which colour a class has is defined in static/code.css.
  4. The language comes from the name given, or from the name of the file, never from the content: a guess costs much
     and is wrong where it matters.
  5. Only languages of this list: their lexers yield as they go, and do not run away on hostile input.
  6. Only text that is numbered from line to line without a gap counts as a file; the rest is shown as it came.
  7. Line numbers are in a separate column, so that they are not copied with the code.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape
from pygments.token import Token, _TokenType

from tracklog.views.html.cache import Remembered
from tracklog.views.html.legible import legible
from tracklog.views.html.terminal import terminal

if TYPE_CHECKING:
    from pygments.lexer import Lexer


# Name of the lexer: other names of the language, with the endings of its files.
_LANGUAGES = {
    "awk": "",
    "bash": "sh shell zsh ksh fish .sh .bash .zsh .ksh .fish .bashrc .zshrc .profile .env",
    "batch": "bat cmd .bat .cmd",
    "c": ".c .h",
    "clojure": "clj cljs edn .clj .cljs .cljc .edn",
    "cmake": ".cmake cmakelists.txt",
    "console": "shell-session bash-session terminal",
    "cpp": "c++ cc cxx hpp cu cuda .cpp .cc .cxx .hpp .hh .hxx .cu .ino",
    "csharp": "c# cs .cs .csx",
    "css": ".css",
    "dart": ".dart",
    "diff": "patch udiff .diff .patch",
    "docker": "dockerfile containerfile .dockerfile",
    "elixir": "ex exs .ex .exs",
    "erlang": "erl .erl .hrl",
    "fsharp": "f# fs .fs .fsx .fsi",
    "glsl": "vert frag wgsl hlsl .glsl .vert .frag .wgsl",
    "go": "golang .go",
    "graphql": "gql .graphql .gql",
    "groovy": "gradle .groovy .gradle jenkinsfile",
    "haskell": "hs .hs",
    "html": "htm xhtml svelte astro .html .htm .xhtml .svelte .astro",
    "http": "",
    "ini": "cfg conf dosini .ini .cfg .conf .editorconfig .gitconfig .npmrc .service",
    "java": ".java",
    "javascript": "js mjs cjs node ecmascript .js .mjs .cjs",
    "json": "jsonc json5 jsonl ndjson .json .jsonc .json5 .jsonl .ndjson .ipynb .geojson .webmanifest",
    "jsx": "react .jsx",
    "julia": "jl .jl",
    "kotlin": "kt kts .kt .kts",
    "less": ".less",
    "lua": ".lua",
    "make": "makefile mk gnumakefile justfile .mk .mak",
    "markdown": "md mdx .md .mdx .markdown",
    "nginx": "nginxconf nginx.conf",
    "nix": ".nix",
    "objective-c": "objc objectivec .m .mm",
    "ocaml": "ml mli .ml .mli",
    "perl": "pl pm .pl .pm",
    "php": ".php",
    "powershell": "ps1 pwsh posh .ps1 .psm1 .psd1",
    "properties": ".properties",
    "protobuf": "proto .proto",
    "pytb": "traceback py3tb",
    "python": "py python3 py3 pyi starlark bzl .py .pyi .pyw .bzl .star",
    "r": "splus .r",
    "rst": "rest restructuredtext .rst",
    "ruby": "rb gemfile rakefile .rb .rake .gemspec",
    "rust": "rs .rs",
    "scala": "sbt .scala .sbt .sc",
    "scss": "sass .scss",
    "solidity": "sol .sol",
    "sql": "mysql postgres postgresql sqlite plsql psql .sql",
    "swift": ".swift",
    "terraform": "tf hcl .tf .tfvars .hcl",
    "tex": "latex .tex .sty .cls",
    "toml": "pipfile cargo.lock poetry.lock uv.lock .toml",
    "tsx": ".tsx",
    "typescript": "ts mts cts .ts .mts .cts",
    "vim": "viml vimscript .vim .vimrc",
    "vue": ".vue",
    "xml": "svg xsd xsl rss plist .xml .svg .xsd .xsl .xslt .plist .csproj .pom",
    "yaml": "yml .yaml .yml",
    "zig": ".zig",
}
_BY_NAME = {name: language for language, names in _LANGUAGES.items() for name in (language, *names.split())}
LANGUAGES = frozenset(_LANGUAGES)
_LONGEST_NAME = 60
_LONGEST_PATH = 4_000


def language_of(language: str | None, path: str | None) -> str | None:
    """The name of the lexer for this language, else for a file with this path."""
    return _by_name(language) or _by_path(path)


def _by_name(language: str | None) -> str | None:
    word = (language or "").lstrip()[:_LONGEST_NAME].split(None, 1)[:1]  # "python title=…" of a fence
    return _BY_NAME.get(word[0].strip("{}.").partition(",")[0].lower()) if word else None


def _by_path(path: str | None) -> str | None:
    name = (path or "")[-_LONGEST_PATH:].replace("\\", "/").rpartition("/")[2].lower()
    stem, dot, _ = name.partition(".")
    if dot and (found := _BY_NAME.get(name) or _BY_NAME.get(f".{name.rpartition('.')[2]}")):
        return found
    return _BY_NAME.get(stem) if stem.endswith("file") else None  # Dockerfile.dev too


@cache
def lexer(name: str) -> Lexer:
    """The lexer with this name, one of LANGUAGES."""
    from pygments.lexers import get_lexer_by_name  # takes a while, and is wanted by few commands

    return get_lexer_by_name(name)


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
    """A block of code, coloured if its language is known."""
    name = language_of(language, path)
    return _remembered.get(text, name, lambda: _block(legible(text), name))


def _block(text: str, name: str | None) -> Markup:
    inner = coloured(text, name) if name and is_colourable(text) else escape(text)
    kind = Markup(' class="language-{}"').format(name) if name else ""
    return Markup('<pre class="code"><code{}>{}</code></pre>').format(kind, inner)


def is_colourable(text: str) -> bool:
    """Whether a text is short enough for a lexer, without lines longer than people write."""
    return len(text) <= MOST_COLOURED and max(map(len, text.split("\n"))) <= LONGEST_LINE


def coloured(text: str, name: str) -> Markup:
    """The text as spans with the classes of its words; `name` is that of a lexer."""
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
    until = time.thread_time() + MOST_SECONDS  # of this thread's work: other threads' work costs no colours
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


_NUMBERED = re.compile(r" {0,9}([0-9]{1,7})[→\t](.*)")


def numbered(text: str, *, path: str) -> Markup | None:
    """The numbered lines of a file in colours, then the text after them; None if the text is not numbered."""
    lines = text.split("\n")
    first, found = 0, list[str]()
    for line in lines:
        match = _NUMBERED.fullmatch(line.removesuffix("\r"))
        if match is None or (found and int(match[1]) != first + len(found)):
            break
        first = first if found else int(match[1])
        found.append(match[2])
    if not found:
        return None
    numbers = "\n".join(str(n) for n in range(first, first + len(found)))
    column = Markup('<pre class="numbers" aria-hidden="true">{}</pre>').format(numbers)
    block = Markup('<div class="numbered">{}{}</div>').format(column, code("\n".join(found), path=path))
    rest = "\n".join(lines[len(found) :]).strip("\n")
    return block + terminal(rest) if rest else block
