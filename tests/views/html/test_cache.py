"""What is kept of renderings, and when it goes."""

from __future__ import annotations

from markupsafe import Markup

from tracklog.views.html.cache import Remembered, mark_of


def test_a_text_is_rendered_once_in_each_manner() -> None:
    kept, made = Remembered(1_000), []

    def make() -> Markup:
        made.append(1)
        return Markup("x")

    assert [kept.get("a", manner, make) for manner in ("m", "m", "n")] == ["x", "x", "x"]
    assert len(made) == 2


def test_what_was_not_asked_for_the_longest_goes_first() -> None:
    kept = Remembered(300)
    for name in ("a", "b", "a", "c", "d", "e", "f", "g", "h", "i", "j", "k"):
        kept.get(name, None, lambda: Markup("x" * 30))
    assert kept.letters == 300
    assert kept.get("a", None, lambda: Markup("new")) == "x" * 30
    assert kept.get("b", None, lambda: Markup("new")) == "new"


def test_what_is_large_is_not_kept() -> None:
    kept = Remembered(100)
    kept.get("a", None, lambda: Markup("x" * 90))
    assert kept.letters == 0


def test_half_characters_tell_texts_apart() -> None:
    assert len({mark_of("\ud800"), mark_of("\udc00"), mark_of("?")}) == 3
