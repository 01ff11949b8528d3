from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path

import pytest

from tests.few_watches import run_with
from tracklog.sources.tail import hints as hints_module
from tracklog.sources.tail.hints import Hints, most_watches, why_not_told_of

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts watches")
SAYS = """
import sys
from pathlib import Path
from tracklog.sources.tail.hints import Hints
hints = Hints([Path(sys.argv[1])])
print(hints.n_watched(), hints.problem, hints.wait(0.05))
"""


def heard(hints: Hints, path: Path, act: Callable[[], object]) -> bool:
    act()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if str(path) in hints.wait(0.1):
            return True
    return False


def test_a_change_below_a_folder_is_heard(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "log.jsonl"
    path.parent.mkdir(parents=True)
    with closing(Hints([tmp_path])) as hints:
        assert hints.problem is None
        assert heard(hints, path, lambda: path.write_text("x"))


def test_who_listens_to_nothing_only_waits() -> None:
    began = time.monotonic()
    assert Hints([]).wait(0.05) == set()
    assert time.monotonic() - began >= 0.05


@on_linux
def test_the_watched_folders_are_counted(tmp_path: Path) -> None:
    for n in range(4):
        (tmp_path / f"d{n}").mkdir()
    hints = Hints([tmp_path])
    assert hints.n_watched() == 5
    hints.close()
    assert hints.n_watched() is None
    assert (most_watches() or 0) > 0


@on_linux
def test_folders_are_counted_where_another_watcher_gave_its_number_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "other").mkdir()
    other, listening = Hints([tmp_path / "other"]), hints_module._listening
    numbers = other._descriptors

    def listening_after_the_other(folders: list[Path]) -> Generator[set[tuple[object, str]], None, None]:
        other.close()
        while numbers & hints_module._inotify_descriptors():
            time.sleep(0.01)  # its thread ends; then the next descriptor gets its number
        return listening(folders)

    monkeypatch.setattr(hints_module, "_listening", listening_after_the_other)
    with closing(Hints([tmp_path / "ours"])) as hints:
        assert hints.n_watched() == 1


@on_linux
def test_where_no_watches_are_left_the_count_shows_it(tmp_path: Path) -> None:
    for n in range(9):
        (tmp_path / f"d{n}").mkdir()
    assert run_with("watches", 3, "-c", SAYS, str(tmp_path)) == "3 None set()\n"


@on_linux
def test_where_no_watcher_is_left_that_is_said_and_waiting_is_only_waiting(tmp_path: Path) -> None:
    said = run_with("instances", 0, "-c", SAYS, str(tmp_path))
    assert said.startswith("None ")
    assert "Too many open files" in said
    assert said.endswith(" set()\n")


def test_a_folder_of_this_machine_is_told_of(tmp_path: Path) -> None:
    assert why_not_told_of(tmp_path) is None
