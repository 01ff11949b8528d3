from __future__ import annotations

from pathlib import Path

import pytest

from tracklog.pipeline import watch_marks
from tracklog.pipeline.watch_marks import LineMarks
from tracklog.sources.found import LogFile
from tracklog.sources.lines import Line, cut
from tracklog.sources.places import find_at


def found(path: Path) -> LogFile:
    (file,) = find_at(path)
    assert isinstance(file, LogFile)
    return file


def lines(*texts: str) -> list[Line]:
    return list(cut([b"".join(f"{text}\n".encode() for text in texts)]))


def written(folder: Path, *texts: str) -> LogFile:
    path = folder / "log.jsonl"
    path.write_text("".join(f"{text}\n" for text in texts))
    return found(path)


def new_ones(marks: LineMarks, *texts: str) -> list[str]:
    return [line.raw.decode() for line in lines(*texts) if marks.is_new(line)]


def test_a_log_that_only_grows_has_only_new_lines(tmp_path: Path) -> None:
    marks = LineMarks(written(tmp_path, "a", "a"))
    assert new_ones(marks, "a", "a", "b") == ["a", "a", "b"]


def test_a_log_that_is_read_again_has_only_those_new_that_were_not_there(tmp_path: Path) -> None:
    file = written(tmp_path, "a", "b")
    marks = LineMarks(file)
    new_ones(marks, "a", "b")
    marks.begin_again(4)
    assert new_ones(marks, "b", "x", "a", "y") == ["x", "y"]
    marks.begin_again(8)
    assert new_ones(marks, "y", "z") == ["z"]


def test_what_was_never_looked_at_is_old_as_long_as_the_log_begins_alike(tmp_path: Path) -> None:
    file = written(tmp_path, "one", "two", "three")
    marks = LineMarks(file, unread=8)
    marks.remember(lines("one", "two", "three")[2])
    marks.begin_again(file.size)
    assert new_ones(marks, "one", "two", "three", "four") == ["four"]
    written(tmp_path, "other", "two", "three")
    marks.begin_again(file.size)
    assert new_ones(marks, "other", "two", "three") == ["other", "two"]


def test_a_log_that_was_cut_into_what_was_never_looked_at_tells_what_comes_behind_the_cut(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, "one", "two", "three", "four")
    marks = LineMarks(file, unread=14)
    written(tmp_path, "one")
    marks.begin_again(4)
    assert new_ones(marks, "one", "new", "newer") == ["new", "newer"]


def test_of_a_very_long_log_the_last_lines_are_remembered_and_the_others_are_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_marks, "MOST_REMEMBERED", 100)
    texts = [f"line {n}" for n in range(1000)]
    file = written(tmp_path, *texts)
    marks = LineMarks(file)
    assert len(new_ones(marks, *texts)) == 1000
    assert len(marks._marks) <= 100
    marks.begin_again(file.size)
    assert new_ones(marks, *texts, "line 1000") == ["line 1000"]


def test_a_log_that_only_grows_again_is_no_longer_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_marks, "CAUGHT_UP", 3)
    marks = LineMarks(written(tmp_path, "a", "b"))
    new_ones(marks, "a", "b")
    marks.begin_again(4)
    assert new_ones(marks, "a", "x", "y", "b", "z") == ["x", "y", "z"]
    assert marks._before is not None
    new_ones(marks, "p", "q")
    assert marks._before is None
