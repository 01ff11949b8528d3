from __future__ import annotations

import pytest

from tracklog.views.cli.output.drawing import bar, line, paragraphs, table


def test_columns_are_aligned_by_what_a_terminal_shows(capsys: pytest.CaptureFixture[str]) -> None:
    table([("a", "1", "x"), ("日本", "100", "[bold]y")], "<><")
    assert capsys.readouterr().out == "  a       1  x\n  日本  100  [bold]y\n"


def test_in_a_pipe_nothing_is_cut_and_no_line_ends_in_spaces(capsys: pytest.CaptureFixture[str]) -> None:
    path = "/".join(["folder"] * 100)
    table([(path, "1"), ("short", "")], "<<")
    paragraphs([("a", path), ("", "more")])
    line("text ", path)
    assert capsys.readouterr().out == (f"  {path}  1\n  short\n" + f"a  {path}\n   more\n" + f"text {path}\n")


@pytest.mark.parametrize(
    ("parts", "of", "drawn"),
    [
        ([(10, "green")], 10, "██████████"),
        ([(5, "green"), (5, "red")], 10, "██████████"),
        ([(5, "green")], 10, "█████·····"),
        ([(1, "green")], 1000, "▏·········"),
        ([(999, "green"), (1, "red")], 1000, "██████████"),
        ([(0, "green")], 0, "··········"),
    ],
)
def test_a_bar_has_its_width_and_shows_what_is_there(
    parts: list[tuple[int, str]], of: int, drawn: str
) -> None:
    assert bar(parts, of, width=10).plain == drawn
