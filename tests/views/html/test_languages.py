"""By which names languages are known."""

from __future__ import annotations

from tests.cases import for_each
from tracklog.views.html.code import LANGUAGES, language_of, lexer


@for_each(
    "language, path, expected",
    [
        ("py", None, "python"),
        ("Python", None, "python"),
        ("python title=x", None, "python"),
        ("js,linenos", None, "javascript"),
        ("{.rust}", None, "rust"),
        ("brainfuck", "a.py", "python"),
        (None, "/a/b.TSX", "tsx"),
        (None, "C:\\x\\y.cs", "csharp"),
        (None, "Dockerfile", "docker"),
        (None, "a/Dockerfile.dev", "docker"),
        (None, "Makefile", "make"),
        (None, "CMakeLists.txt", "cmake"),
        (None, ".env", "bash"),
        (None, "python", None),
        (None, "notes.txt", None),
        (None, "x.py/", None),
        (None, "", None),
        ("", None, None),
        ("   ", None, None),
        (None, None, None),
    ],
)
def test_a_language_is_known_by_its_name_or_by_that_of_its_file(
    language: str | None, path: str | None, expected: str | None
) -> None:
    assert language_of(language, path) == expected


def test_a_name_of_megabytes_is_none() -> None:
    assert language_of("x" * 5_000_000, "y" * 5_000_000) is None


@for_each("name", sorted(LANGUAGES))
def test_every_language_has_its_lexer(name: str) -> None:
    assert "".join(text for _, _, text in lexer(name).get_tokens_unprocessed("a = 1\n")) == "a = 1\n"
