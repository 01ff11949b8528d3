from __future__ import annotations

from pathlib import Path

import pytest

from tracklog.agents.discovery import find_at
from tracklog.live.watch import follow
from tracklog.live.watch.follow import LineMarks
from tracklog.sources.lines import Line, cut
from tracklog.sources.log_file import LogFile


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
    marks.begin_again(file.size)
    assert new_ones(marks, "other", "two", "three") == []
    assert marks.is_lost
    marks.give_up()
    assert new_ones(marks, "other", "two", "three") == ["other", "two"]


def test_a_log_that_was_cut_into_what_was_never_looked_at_tells_what_comes_behind_the_cut(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, "one", "two", "three", "four")
    marks = LineMarks(file, unread=14)
    marks.begin_again(4)
    assert new_ones(marks, "one", "new", "newer") == []
    marks.give_up()
    assert new_ones(marks, "one", "new", "newer") == ["new", "newer"]


@pytest.fixture
def long_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[LineMarks, list[str]]:
    """A log of a thousand lines, of which the last hundred are remembered at most."""
    monkeypatch.setattr(follow, "MOST_REMEMBERED", 100)
    texts = [f"line {n}" for n in range(1000)]
    marks = LineMarks(written(tmp_path))
    assert new_ones(marks, *texts) == texts
    return marks, texts


def test_a_long_log_that_begins_otherwise_is_known_by_a_run_of_its_last_lines(
    long_log: tuple[LineMarks, list[str]],
) -> None:
    marks, texts = long_log
    marks.begin_again(6000)
    assert new_ones(marks, *texts[3:], "new") == ["new"]
    marks.begin_again(6000)
    assert new_ones(marks, "a much longer first line" * 100, *texts[7:], "new", "newer") == ["newer"]


def test_a_long_log_is_lost_until_its_last_lines_are_written_again(
    long_log: tuple[LineMarks, list[str]],
) -> None:
    marks, texts = long_log
    marks.begin_again(0)  # just emptied, to be written anew
    new: list[str] = []
    is_lost: set[bool] = set()
    for line in lines(*texts[:5], *texts[6:], "new"):
        is_lost.add(marks.is_lost)
        new += [line.raw.decode()] * marks.is_new(line)
    assert (new, is_lost) == (["new"], {True, False})


def test_a_few_lines_that_are_repeated_word_by_word_are_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claude Code notes its mode, its title and the last prompt again and again, in the same words."""
    monkeypatch.setattr(follow, "MOST_REMEMBERED", 700)
    notes = ["mode", "title", "last prompt"]
    texts = [text for n in range(300) for text in (*notes, *notes, f"line {n}")]
    marks = LineMarks(written(tmp_path))
    new_ones(marks, *texts)
    marks.begin_again(0)
    assert new_ones(marks, *texts[1:], "new") == ["new"]


def test_another_log_in_the_place_of_a_long_one_is_new(long_log: tuple[LineMarks, list[str]]) -> None:
    marks, texts = long_log
    marks.begin_again(14)
    assert marks.begins_alike
    assert new_ones(marks, texts[0], "a", "b") == []
    assert (marks.is_lost, marks.begins_alike) == (True, False)
    marks.give_up()
    assert new_ones(marks, texts[0], "a", "b") == [texts[0], "a", "b"]


def test_of_a_quiet_log_fewer_lines_are_remembered_and_the_others_are_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "OF_A_QUIET_ONE", 20)
    texts = [f"line {n}" for n in range(1000)]
    file = written(tmp_path, *texts)
    marks = LineMarks(file)
    new_ones(marks, *texts)
    marks.begin_again(file.size)
    assert new_ones(marks, *texts) == []
    marks.shrink(file.size)
    assert (len(marks._marks), len(marks._before or ())) == (20, 20)
    assert new_ones(marks, "more") == ["more"]
    for again in (texts, texts[1:], texts[500:], [*texts[:-3], "more"]):
        marks.begin_again(0)
        assert new_ones(marks, *again, "new") == (["new"] if again is texts else [])


def test_of_a_very_long_log_the_last_lines_are_remembered_and_the_others_are_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "MOST_REMEMBERED", 100)
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
    monkeypatch.setattr(follow, "CAUGHT_UP", 3)
    marks = LineMarks(written(tmp_path, "a", "b"))
    new_ones(marks, "a", "b")
    marks.begin_again(4)
    assert new_ones(marks, "a", "x", "y", "b", "z") == ["x", "y", "z"]
    assert marks._before is not None
    new_ones(marks, "p", "q")
    assert marks._before is None
