from __future__ import annotations

import pytest
from rich.cells import cell_len

from tests.cases import for_each
from tracklog.views.cli.commands.money.usage_table import Sheet, TableColumn, bar, cells, width_of, with_bar

FIGURES = {
    "requests": [12, 12],
    "input": [1_234_567, 1_234_567],
    "output": [987_654_321, 987_654_321],
    "cache write": [5, 5],
    "cache read": [12_345_678_901, 12_345_678_901],
}


def sheet(name: str) -> Sheet:
    names = [TableColumn("model", "<", cells([name, "total"]), gives_way=True)]
    return Sheet(names, FIGURES, [TableColumn("cost", ">", cells(["$1,234.50", "$1,234.50"]))])


def laid_out(name: str, width: int) -> list[str]:
    columns = with_bar(sheet(name).fitted(width), [1.0], width)
    return [column.name for column in columns]


ALL = ["model", "requests", "input", "output", "cache write", "cache read", "cost"]
SHORT = ["model", "requests", "input", "output", "c.write", "c.read", "cost"]


@pytest.mark.parametrize(
    ("name", "width", "names"),
    [
        ("opus", 140, [*ALL, ""]),
        ("opus", 80, [*SHORT, ""]),
        ("opus", 62, SHORT),
        ("opus", 44, ["model", "input", "output", "c.read", "cost"]),
        ("opus", 20, ["model", "cost"]),
        ("x" * 60, 80, [*SHORT, ""]),  # a long name makes room for the bar
        ("x" * 60, 66, SHORT),
    ],
)
def test_with_less_room_the_bar_goes_and_then_columns_but_never_the_cost(
    name: str, width: int, names: list[str]
) -> None:
    assert laid_out(name, width) == names


@for_each("name", ["opus", "日本語" * 20, "x" * 60])
@pytest.mark.parametrize("width", range(40, 200, 7))
def test_columns_fit_once_the_name_has_given_way(name: str, width: int) -> None:
    columns = with_bar(sheet(name).fitted(width), [1.0], width)
    spare = max(cell_len(name) - 12, 0)
    assert width_of(columns) - spare <= width


def test_a_bar_is_drawn_in_eighths_and_a_little_is_never_nothing() -> None:
    assert [bar(share, 4) for share in (0, 0.0001, 0.25, 0.28, 0.5, 1)] == ["", "▏", "█", "█▏", "██", "████"]


def test_without_a_cost_there_is_no_bar() -> None:
    columns = sheet("opus").fitted(140)
    assert with_bar(columns, [0.0], 140) == columns
