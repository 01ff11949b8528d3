"""Import costs: read as the interpreter prints them, the dearest first."""

from __future__ import annotations

from bench.cold_start import ImportCost, import_costs, import_table, total_us

REPORT = """\
import time: self [us] | cumulative | imported package
import time:       215 |        215 |   _io
a line of the program
import time:      1200 |       1415 | encodings.utf_8
import time:        40 |         40 |     marshal
"""
COSTS = [ImportCost("encodings.utf_8", 1200), ImportCost("_io", 215), ImportCost("marshal", 40)]


def test_modules_come_with_their_own_time_the_dearest_first() -> None:
    assert import_costs(REPORT) == COSTS
    assert total_us(COSTS) == 1455


def test_the_table_has_a_head_for_each_command_and_its_modules() -> None:
    assert import_table({"usage": COSTS}).splitlines() == [
        "usage: 3 modules, 1.5 ms of imports",
        "     1.2 ms  encodings.utf_8",
        "     0.2 ms  _io",
        "     0.0 ms  marshal",
    ]
