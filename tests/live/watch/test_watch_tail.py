from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.agents.discovery import find_at
from tracklog.live.watch import follow
from tracklog.live.watch import tail as tail_module
from tracklog.live.watch.tail import LogReplaced, Tail, TailChunk
from tracklog.sources.log_file import LogFile

SESSION = "11111111-aaaa-4aaa-8aaa-111111111111"


def prompt(text: str) -> bytes:
    line = {
        "type": "user",
        "uuid": f"u-{text}",
        "parentUuid": None,
        "sessionId": SESSION,
        "timestamp": "2026-03-01T10:00:00.000Z",
        "message": {"role": "user", "content": text},
    }
    return json.dumps(line).encode() + b"\n"


def log_with(folder: Path, *texts: str) -> Path:
    path = folder / "projects" / "-p" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(prompt, texts)))
    return path


def found(path: Path) -> LogFile:
    (file,) = find_at(path)
    assert isinstance(file, LogFile)
    return file


def texts(steps: object) -> list[str]:
    assert hasattr(steps, "__iter__")
    return [
        f"replaced: {step.why}"
        if isinstance(step, LogReplaced)
        else json.loads(step.piece.raw)["message"]["content"]
        for step in steps
        if step is not None
    ]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(data)


def test_what_stood_there_before_is_told_apart_from_what_comes(tmp_path: Path) -> None:
    path = log_with(tmp_path, "a", "b")
    tail = Tail(found(path))
    assert texts(tail.before()) == ["a", "b"]
    assert texts(tail.more()) == []
    append(path, prompt("c"))
    assert texts(tail.more()) == ["c"]


def test_what_came_since_an_earlier_watch_is_news(tmp_path: Path) -> None:
    path = log_with(tmp_path, "a", "b", "c")
    tail = Tail(found(path), known_to=len(prompt("a")))
    assert texts(tail.before()) == ["a"]
    assert texts(tail.more()) == ["b", "c"]


def test_a_new_log_is_told_from_its_beginning(tmp_path: Path) -> None:
    tail = Tail(found(log_with(tmp_path, "a", "b")), known_to=0)
    assert texts(tail.before()) == []
    assert texts(tail.more()) == ["a", "b"]


@given(cuts=st.lists(st.integers(1, 60), max_size=40))
def test_a_line_comes_once_however_its_bytes_arrive(
    cuts: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = log_with(tmp_path_factory.mktemp("log"), "before")
    tail = Tail(found(path))
    list(tail.before())
    data = prompt("one") + prompt("two") + prompt("three")
    seen: list[str] = []
    for cut in cuts:
        append(path, data[:cut])
        data = data[cut:]
        seen += texts(tail.more())
    append(path, data)
    assert seen + texts(tail.more()) == ["one", "two", "three"]


def test_lines_are_numbered_as_in_the_file_also_where_its_beginning_was_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail_module, "READ_BEFORE", 500)
    path = log_with(tmp_path, *(f"line {n}" for n in range(1, 1001)))
    tail = Tail(found(path))
    before = list(tail.before())
    assert 0 < len(before) < 5
    assert [f"line {seen.piece.line}" for seen in before] == texts(before)
    append(path, prompt("line 1001"))
    (new,) = tail.more()
    assert isinstance(new, TailChunk)
    assert (new.piece.line, new.piece.offset) == (1001, os.path.getsize(path) - len(prompt("line 1001")))


def test_a_log_that_was_cut_and_went_on_gives_only_what_is_new(tmp_path: Path) -> None:
    path = log_with(tmp_path, "a", "b", "half an answer")
    tail = Tail(found(path))
    list(tail.before())
    log_with(tmp_path, "a", "b", "c")
    assert texts(tail.more()) == ["replaced: shorter", "c"]
    append(path, prompt("d"))
    assert texts(tail.more()) == ["d"]


def test_a_log_that_is_rewritten_with_a_larger_end_gives_only_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail_module, "READ_BEFORE", 300)
    path = log_with(tmp_path, *"abcdefgh", "x")
    tail = Tail(found(path))
    list(tail.before())
    log_with(tmp_path, *"abcdefgh", "y", "z")
    assert texts(tail.more()) == ["replaced: rewritten", "y", "z"]


def test_another_file_under_the_same_name_is_new_from_its_first_line(tmp_path: Path) -> None:
    path = log_with(tmp_path, "a", "b")
    tail = Tail(found(path))
    list(tail.before())
    path.unlink()
    log_with(tmp_path, "p", "q", "r")
    said, *new = texts(tail.more())
    assert said in ("replaced: replaced", "replaced: rewritten")  # the system may give the same inode again
    assert new == ["p", "q", "r"]


def test_a_log_that_is_gone_is_quiet_until_it_comes_back(tmp_path: Path) -> None:
    path = log_with(tmp_path, "a")
    tail = Tail(found(path))
    list(tail.before())
    away = path.rename(path.with_suffix(".away"))
    assert texts(tail.more()) == []
    away.rename(path)
    append(path, prompt("b"))
    assert texts(tail.more()) == ["b"]


def test_torn_lines_give_what_can_be_read_of_them(tmp_path: Path) -> None:
    path = log_with(tmp_path)
    tail = Tail(found(path), known_to=0)
    append(path, prompt("a")[:30] + b"\n" + prompt("b"))
    assert [seen.piece.reading for seen in tail.more() if isinstance(seen, TailChunk)] == ["broken", "read"]


def test_the_rest_of_a_log_that_was_put_aside_comes_before_the_new_one(tmp_path: Path) -> None:
    path = log_with(tmp_path, "a")
    tail = Tail(found(path))
    list(tail.before())
    append(path, prompt("b") + prompt("c"))
    path.rename(path.with_suffix(".jsonl.1"))
    log_with(tmp_path, "d")
    assert texts(tail.more()) == ["b", "c", "replaced: replaced", "d"]


def test_a_log_that_is_written_anew_bit_by_bit_gives_only_what_is_new(tmp_path: Path) -> None:
    path = log_with(tmp_path, "a", "b", "c")
    tail = Tail(found(path))
    list(tail.before())
    anew = prompt("a") + prompt("c") + prompt("d")
    path.write_bytes(anew[:100])
    assert texts(tail.more()) == ["replaced: shorter"]
    append(path, anew[100:])
    assert texts(tail.more()) == ["d"]


def test_a_log_goes_on_at_another_place(tmp_path: Path) -> None:
    path = log_with(tmp_path, "a")
    tail = Tail(found(path))
    list(tail.before())
    append(path, prompt("b")[:20])
    assert texts(tail.more()) == []
    there = tmp_path / "projects" / "-q" / path.name
    there.parent.mkdir()
    path.rename(there)
    assert tail.offset_in(found(there)) == len(prompt("a")) + 20
    tail.move_to(found(there))
    append(there, prompt("b")[20:])
    assert texts(tail.more()) == ["b"]


class Clock:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def long_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Tail, Clock]:
    """A log of 300 lines that was told, of which only the last are remembered."""
    monkeypatch.setattr(follow, "MOST_REMEMBERED", 100)
    path, clock = log_with(tmp_path, *map(str, range(300))), Clock()
    tail = Tail(found(path), known_to=0, clock=clock)
    assert texts(tail.more()) == [*map(str, range(300))]
    return path, tail, clock


@pytest.mark.parametrize("gone", [2, 120])
def test_a_long_log_that_is_seen_half_rewritten_is_not_told_again(
    long_log: tuple[Path, Tail, Clock], gone: int
) -> None:
    """A log of many thousand lines was emptied and written anew without one of them; whoever looked in between took it for
    another one, and told it from its beginning."""
    path, tail, clock = long_log
    path.write_bytes(b"")
    assert texts(tail.more()) == ["replaced: shorter"]
    clock.now += 1.0
    anew = b"".join(prompt(str(n)) for n in range(300) if n != gone) + prompt("new")
    for begin in range(0, len(anew), 7000):
        append(path, anew[begin : begin + 7000])
        assert texts(tail.more()) == (["new"] if begin + 7000 >= len(anew) else [])
    assert not tail.is_undecided
    append(path, prompt("newer"))
    assert texts(tail.more()) == ["newer"]


def test_a_long_log_that_is_replaced_without_its_first_lines_is_not_told_again(
    long_log: tuple[Path, Tail, Clock],
) -> None:
    path, tail, _ = long_log
    aside = path.with_name(".aside")
    aside.write_bytes(b"".join(prompt(str(n)) for n in range(3, 300)) + prompt("new"))
    aside.replace(path)
    assert texts(tail.more()) == ["replaced: replaced", "new"]


def test_a_long_log_that_was_emptied_and_begun_anew_is_told_after_some_patience(
    long_log: tuple[Path, Tail, Clock],
) -> None:
    path, tail, clock = long_log
    path.write_bytes(prompt("a"))
    assert texts(tail.more()) == ["replaced: shorter"]
    append(path, prompt("b"))
    assert texts(tail.more()) == []
    assert tail.is_undecided
    clock.now += tail_module.PATIENCE_S
    assert texts(tail.more()) == ["a", "b"]
    assert not tail.is_undecided
    append(path, prompt("c"))
    assert texts(tail.more()) == ["c"]


def test_a_long_log_that_is_cut_very_short_tells_what_comes_behind_the_cut(
    long_log: tuple[Path, Tail, Clock],
) -> None:
    path, tail, clock = long_log
    os.truncate(path, sum(len(prompt(str(n))) for n in range(30)))
    assert texts(tail.more()) == ["replaced: shorter"]
    clock.now += tail_module.PATIENCE_S
    assert texts(tail.more()) == []
    append(path, prompt("new"))
    assert texts(tail.more()) == ["new"]


def test_a_long_log_that_is_put_aside_and_begun_anew_is_told_at_once(
    long_log: tuple[Path, Tail, Clock],
) -> None:
    """The rest of the old one is read when the new one stands in its place: how that begins says nothing of the old one."""
    path, tail, _ = long_log
    rest = [*map(str, range(300, 400))]
    append(path, b"".join(map(prompt, rest)))
    path.rename(path.with_suffix(".jsonl.1"))
    path.write_bytes(prompt("0") + prompt("a"))
    assert texts(tail.more()) == [*rest, "replaced: replaced", "0", "a"]


def test_a_log_that_rests_is_neither_lost_nor_told_again(
    long_log: tuple[Path, Tail, Clock], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "OF_A_QUIET_ONE", 30)
    path, tail, _ = long_log
    tail.rest()
    append(path, prompt("a"))
    assert texts(tail.more()) == ["a"]
    path.write_bytes(b"".join(prompt(str(n)) for n in range(2, 300)) + prompt("a") + prompt("b"))
    assert texts(tail.more()) == ["replaced: shorter", "b"]


@pytest.mark.parametrize("n_before", [40, 70, 130])
def test_a_log_that_is_begun_anew_grows_long_and_is_rewritten_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_before: int
) -> None:
    """Where the remembered lines of the old one began says nothing of the new one."""
    monkeypatch.setattr(follow, "MOST_REMEMBERED", 100)
    path, names = log_with(tmp_path, *(f"old {n}" for n in range(n_before))), [f"new {n}" for n in range(230)]
    tail = Tail(found(path), known_to=0)
    list(tail.more())
    path.rename(path.with_suffix(".jsonl.1"))
    told: list[str] = []
    for begin in range(0, 230, 10):
        append(path, b"".join(map(prompt, names[begin : begin + 10])))
        told += texts(tail.more())
        aside = path.with_name(".aside")
        aside.write_bytes(path.read_bytes())
        if begin % 50 == 0:
            aside.replace(path)
            told += texts(tail.more())
    assert [one for one in told if not one.startswith("replaced")] == names
