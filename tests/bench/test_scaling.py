"""The growth of cost: exponents are right, noise has none, and made homes grow as they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.measure import Run
from bench.scaling import FUNCTIONS, LEAST_CPU_S, Growth, as_document, as_row, exponent, head
from bench.scaling_homes import SHAPES, make
from bench.scaling_questions import functions, newest_log, questions

SIZES = (100, 200, 400)
MB = 1_000_000


def growth(*cpu_s: float, mb: tuple[int, ...] = (30, 30, 30, 30)) -> Growth:
    start, *runs = (Run(0, cpu, peak * MB) for cpu, peak in zip(cpu_s, mb, strict=True))
    return Growth("recent", "sessions", start, runs)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_the_exponent_is_that_of_the_growth(power: float) -> None:
    beyond = [(n / 100) ** power for n in SIZES]
    assert exponent(SIZES, beyond, least=0.1) == pytest.approx(power)


def test_what_costs_next_to_nothing_has_no_exponent() -> None:
    assert exponent(SIZES, [0.001, 0.01, 0.05], least=LEAST_CPU_S) is None
    assert growth(0.1, 0.1, 0.12, 0.15).cpu_exponent(SIZES) is None
    assert growth(0.1, 0.1, 0.1, 0.1, mb=(30, 30, 31, 33)).memory_exponent() is None


def test_a_cost_that_the_smallest_size_does_not_show_still_has_an_exponent() -> None:
    assert exponent(SIZES, [-0.01, 0.05, 0.53], least=LEAST_CPU_S) == pytest.approx(3.0)


def test_a_start_up_that_took_long_by_chance_does_not_make_linear_growth_look_steeper() -> None:
    late = [0.1 - 0.09, 0.2 - 0.09, 0.4 - 0.09]
    assert exponent(SIZES, late, least=LEAST_CPU_S) == pytest.approx(1.0)


def test_the_start_up_does_not_count() -> None:
    quadratic = growth(1.0, 1.1, 1.4, 2.6)
    assert quadratic.cpu_exponent(SIZES) == pytest.approx(2.0)
    assert quadratic.is_over(SIZES)
    assert not growth(1.0, 1.1, 1.2, 1.4).is_over(SIZES)


def test_memory_that_grows_faster_than_the_logs_misses_the_goal() -> None:
    wide = growth(0.1, 0.1, 0.1, 0.1, mb=(30, 32, 38, 62))
    assert wide.memory_exponent() == pytest.approx(2.0)
    assert wide.is_over(SIZES)


def test_memory_that_start_up_hides_at_first_has_the_exponent_of_what_is_added() -> None:
    assert growth(0.1, 0.1, 0.1, 0.1, mb=(31, 31, 35, 43)).memory_exponent() == pytest.approx(1.0)
    assert growth(0.1, 0.1, 0.1, 0.1, mb=(31, 31, 31, 36)).memory_exponent() is None


def test_of_two_rounds_the_least_of_each_figure_counts() -> None:
    both = growth(0.1, 0.3, 0.2, 0.9).least(growth(0.2, 0.1, 0.3, 0.8))
    assert [run.cpu_s for run in (both.start, *both.runs)] == [0.1, 0.1, 0.2, 0.8]


def test_the_table_and_the_document_have_the_same_figures() -> None:
    one = growth(1.0, 1.1, 1.4, 2.6)
    assert as_row(one, SIZES).split() == [
        "recent", "sessions", "1.00", "1.10", "1.40", "2.60", "2.00", "30", "30", "30", "30", "-", "MISSED",
    ]  # fmt: skip
    assert as_document(one, SIZES)["cpu_s"] == [1.0, 1.1, 1.4, 2.6]
    assert len(head(SIZES)) == len(as_row(growth(1.0, 1.1, 1.2, 1.4), SIZES))


@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "large"])
def test_twice_the_size_is_twice_the_sessions(shape: str, tmp_path: Path) -> None:
    for n in (5, 10):
        make(shape, str(tmp_path / str(n)), str(n))
        assert len(list((tmp_path / str(n)).rglob("*.jsonl"))) == n
    assert {one.name for one in (tmp_path / "5").iterdir()} == {"claude", "codex"}


def test_large_sessions_are_few_and_have_twice_the_lines(tmp_path: Path) -> None:
    lines = []
    for n in (2, 4):
        make("large", str(tmp_path / str(n)), str(n))
        mains = [log for log in (tmp_path / str(n)).rglob("*.jsonl") if not log.name.startswith("agent-")]
        assert len(mains) == 3
        lines.append(sum(log.read_bytes().count(b"\n") for log in mains))
    assert lines[1] == 2 * lines[0]


def test_every_question_has_a_name_of_its_own(tmp_path: Path) -> None:
    make("old", str(tmp_path / "home"), "5")
    asked = questions(tmp_path / "home")
    assert len({one.name for one in asked}) == len(asked)
    assert set(functions()) == set(FUNCTIONS)
    assert newest_log(tmp_path / "home").suffix == ".jsonl"
