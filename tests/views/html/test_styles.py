"""The style sheet is the one that is made, and can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

import tracklog.views.web
from tracklog.views.html.code import CLASSES
from tracklog.views.html.styles import CODE, GROUNDS, JSON, TERMINAL, Shade, styles
from tracklog.views.html.terminal import all_classes

SHEET = Path(tracklog.views.web.__file__).parent / "static" / "code.css"
PANELS = [Shade("#ffffff", "#151a21"), Shade("#fbfbfa", "#0e1116"), Shade("#f2f3f1", "#1c232c")]  # base.css


def test_the_style_sheet_is_fresh() -> None:
    assert SHEET.read_text("utf-8") == styles(), (
        "run: python -m tracklog.views.html.styles > …/static/code.css"
    )


def test_every_class_has_its_style() -> None:
    sheet = styles()
    wanted = [*(f".code .{name}" for name in CLASSES), *(f".{name}" for name in all_classes())]
    assert [name for name in wanted if f"\n{name} {{" not in sheet and f"\n{name},\n" not in sheet] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_letters_can_be_told_from_their_ground(theme: str) -> None:
    letters = {"code": CODE, "term": TERMINAL, "json": JSON}
    weak = [
        (prefix, name, getattr(ground, theme))
        for prefix, shades in letters.items()
        for name, shade in shades.items()
        for ground in [*PANELS, *(GROUNDS.values() if prefix == "term" else [])]
        if contrast(getattr(shade, theme), getattr(ground, theme)) < 4.5
    ]
    assert weak == []


def contrast(one: str, other: str) -> float:
    """By WCAG 2.2."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
