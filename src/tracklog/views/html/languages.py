"""Which language a piece of code is in: by the name that it is given, or by the name of its file.

Rules of this room
  1. Never by its content: a guess costs much and is wrong where it matters.
  2. Only languages of this list: their lexers yield as they go and do not run away on what is made to hurt them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

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
    """The name of the lexer for this language, or else for a file of this name."""
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
    """The lexer of this name, which is one of ours."""
    from pygments.lexers import get_lexer_by_name  # takes a while, and is wanted by few commands

    return get_lexer_by_name(name)
