from __future__ import annotations

import errno
import io
import os
import random
import tempfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.soak import examples
from tracklog.conversation import lines as conversation_lines
from tracklog.conversation.lines import Room, ThreadLines
from tracklog.sources.log_file import FileKind, LogFile


def log_at(path: Path, data: bytes, *, kind: FileKind = FileKind.TRANSCRIPT) -> LogFile:
    path.write_bytes(data)
    os.utime(path, (1, 1))  # nobody writes to it any more
    facts = path.stat()
    return LogFile("claude", kind, path, path.parent, None, facts.st_size, facts.st_mtime_ns, 0, facts.st_ino)


def raws(lines: ThreadLines, first: int, last: int) -> list[tuple[int, int, bytes]]:
    return [(one.seq, one.line.number, one.line.raw) for one in lines.between(first, last)]


def test_lines_are_read_by_their_numbers(tmp_path: Path) -> None:
    lines = ThreadLines([log_at(tmp_path / "a.jsonl", b"one\ntwo\n\nfour\n")])
    assert lines.n == 4
    assert raws(lines, 2, 9) == [(2, 2, b"two"), (3, 3, b""), (4, 4, b"four")]
    assert raws(lines, 5, 9) == []
    assert lines.raw(1) == b"one"
    assert lines.raw(0) == lines.raw(5) == b""


def test_several_logs_are_one_behind_the_other(tmp_path: Path) -> None:
    first, second = log_at(tmp_path / "a.jsonl", b"1\n2\n"), log_at(tmp_path / "b.jsonl", b"3\n4\n5\n")
    lines = ThreadLines([first, second])
    assert raws(lines, 2, 4) == [(2, 2, b"2"), (3, 1, b"3"), (4, 2, b"4")]
    assert lines.seq_of("b.jsonl", 3) == 5
    assert lines.seq_of(str(first.path), 2) == 2
    assert lines.seq_of("b.jsonl", 4) is None
    assert lines.seq_of("c.jsonl", 1) is None
    assert lines.place_of(5) == (second, 3)
    assert lines.place_of(6) is None


def test_what_is_appended_is_seen_at_the_next_look(tmp_path: Path) -> None:
    log = log_at(tmp_path / "a.jsonl", b"1\n2")
    lines = ThreadLines([log])
    assert lines.n == 2  # the second has no newline, and nobody writes to it
    with log.path.open("ab") as stream:
        stream.write(b"2\n3\n")
    assert lines.n == 2
    lines.look()
    assert (lines.n, lines.generation) == (3, 0)
    assert raws(lines, 1, 3) == [(1, 1, b"1"), (2, 2, b"22"), (3, 3, b"3")]


line = st.text("ab", max_size=4).map(lambda text: text.encode() + b"\n")
edits = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 0), line),
        st.tuples(st.just("write"), st.integers(0, 20), line),
        st.tuples(st.just("truncate"), st.integers(0, 20), st.just(b"")),
        st.tuples(st.just("replace"), st.integers(0, 20), line),
    ),
    max_size=8,
)


@settings(max_examples=examples(100), deadline=None)
@given(edits=edits)
def test_however_a_log_changes_its_lines_are_those_that_it_holds(edits: list[tuple[str, int, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first = b"x" * 300 + b"\n"
        log = log_at(Path(folder) / "a.jsonl", first)
        lines = ThreadLines([log])
        for what, behind, data in edits:
            at = len(first) + behind
            before, shown, generation = log.path.read_bytes(), raws(lines, 1, 99), lines.generation
            if what == "append":
                log.path.write_bytes(before + data)
            elif what == "write":
                log.path.write_bytes(before[:at] + data + before[at + len(data) :])
            elif what == "truncate":
                os.truncate(log.path, min(at, len(before)))
            else:
                log.path.with_name("other").write_bytes(before[:at] + data)
                os.replace(log.path.with_name("other"), log.path)
            os.utime(log.path, (1, 1))
            lines.look()
            now = raws(lines, 1, 99)
            assert now == raws(ThreadLines([log]), 1, 99)
            n_ended = before.count(b"\n")
            assert lines.generation > generation or now[:n_ended] == shown[:n_ended]


def test_a_line_that_is_being_written_is_not_one_yet(tmp_path: Path) -> None:
    log = log_at(tmp_path / "a.jsonl", b"1\n")
    lines = ThreadLines([log])
    with log.path.open("ab") as stream:
        stream.write(b'{"half')
    lines.look()
    assert lines.n == 1
    os.utime(log.path, (1, 1))
    lines.look()
    assert raws(lines, 2, 2) == [(2, 2, b'{"half')]


@pytest.mark.parametrize("after", [b"x\n2\n3\n", b"1\n", b"", b"1\n2 and more, without its end"])
def test_a_log_that_was_rewritten_is_another_one(tmp_path: Path, after: bytes) -> None:
    log = log_at(tmp_path / "a.jsonl", b"1\n2\n")
    lines = ThreadLines([log])
    log.path.write_bytes(after)
    os.utime(log.path, (1, 1))
    lines.look()
    assert lines.generation == 1
    assert [raw for _, _, raw in raws(lines, 1, 9)] == after.splitlines()


@pytest.mark.parametrize("half", [b"{half", b"x" * 100])
def test_a_last_line_that_is_cut_and_written_again_makes_no_new_generation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: bytes
) -> None:
    """Claude Code cuts off a message after a broken stream."""
    monkeypatch.setattr(conversation_lines, "CHUNK", 10)
    log = log_at(tmp_path / "a.jsonl", b"1\n2\n" + half)
    lines = ThreadLines([log])
    assert lines.n == 3
    os.truncate(log.path, 4)
    with log.path.open("ab") as stream:
        stream.write(b"3\n4\n")
    lines.look()
    assert lines.generation == 0
    assert [raw for _, _, raw in raws(lines, 1, 9)] == [b"1", b"2", b"3", b"4"]


def test_a_log_that_is_gone_is_said_and_the_others_are_read(tmp_path: Path) -> None:
    gone, here = log_at(tmp_path / "a.jsonl", b"1\n"), log_at(tmp_path / "b.jsonl", b"2\n")
    gone.path.unlink()
    lines = ThreadLines([gone, here])
    assert [problem.partition(": ")[0] for problem in lines.problems] == [str(gone.path)]
    assert raws(lines, 1, 9) == [(1, 1, b"2")]


def test_a_compressed_log_is_read_like_any_other(tmp_path: Path) -> None:
    packed = zstandard.ZstdCompressor().compress(b"1\n2\n3\n")
    lines = ThreadLines([log_at(tmp_path / "a.jsonl.zst", packed)])
    assert raws(lines, 2, 3) == [(2, 2, b"2"), (3, 3, b"3")]


def test_of_a_damaged_compressed_log_the_good_part_is_shown(tmp_path: Path) -> None:
    whole = zstandard.ZstdCompressor().compress(b"1\n2\n")
    lines = ThreadLines([log_at(tmp_path / "a.jsonl.zst", whole + whole[:-3])])
    assert raws(lines, 1, 2) == [(1, 1, b"1"), (2, 2, b"2")]
    assert len(lines.problems) == 1


@pytest.mark.parametrize(("most", "shown", "n_problems"), [(6, 3, 0), (5, 2, 1), (4, 2, 1)])
def test_of_a_compressed_log_that_holds_too_much_the_beginning_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, shown: int, n_problems: int
) -> None:
    monkeypatch.setattr(conversation_lines, "_MOST_UNPACKED", most)
    packed = zstandard.ZstdCompressor().compress(b"1\n2\n3\n")
    log = log_at(tmp_path / "a.jsonl.zst", packed)
    lines = ThreadLines([log])
    assert [raw for _, _, raw in raws(lines, 1, 9)] == [b"1", b"2", b"3"][:shown]
    assert lines.problems == [f"{log.path}: only its first {most} bytes were unpacked"] * n_problems


def test_a_disk_that_is_full_is_told_and_not_filled_again_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_tries = 0

    class Full(io.FileIO):
        def write(self, _: object) -> int:
            nonlocal n_tries
            n_tries += 1
            raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full(tmp_path / "t", "w+"))
    log = log_at(tmp_path / "a.jsonl.zst", zstandard.ZstdCompressor().compress(b"1\n2\n3\n"))
    lines = ThreadLines([log])
    lines.look()
    assert (lines.n, lines.problems, n_tries) == (
        0,
        [f"{log.path}: cannot be unpacked: no space left on device"],
        1,
    )
    monkeypatch.undo()
    monkeypatch.setattr(conversation_lines, "_REFUSED_FOR_S", 0.0)
    lines.look()
    assert (lines.problems, lines.raw(2)) == ([], b"2")


def test_a_disk_that_takes_little_at_once_gets_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(io.FileIO):
        def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]
            return super().write(data[:3])

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Slow(tmp_path / "t", "w+"))
    packed = zstandard.ZstdCompressor().compress(b"first\nsecond\n")
    lines = ThreadLines([log_at(tmp_path / "a.jsonl.zst", packed)])
    assert raws(lines, 1, 2) == [(1, 1, b"first"), (2, 2, b"second")]


def test_of_more_lines_than_anybody_reads_the_first_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation_lines, "_MOST_LINES", 3)
    monkeypatch.setattr(conversation_lines, "CHUNK", 4)
    log = log_at(tmp_path / "a.jsonl", b"1\n2\n3\n4\n5\n6")
    lines = ThreadLines([log])
    lines.look()
    assert raws(lines, 1, 9) == [(n, n, b"%d" % n) for n in (1, 2, 3, 4)]
    assert lines.problems == [f"{log.path}: only its first 4 lines are shown"]


def test_a_document_is_one_line(tmp_path: Path) -> None:
    lines = ThreadLines([log_at(tmp_path / "a.json", b'{\n "a": 1\n}\n', kind=FileKind.DOCUMENT)])
    assert raws(lines, 1, 5) == [(1, 1, b'{\n "a": 1\n}\n')]


def test_a_run_of_nuls_is_counted_as_the_reader_of_logs_does(tmp_path: Path) -> None:
    lines = ThreadLines([log_at(tmp_path / "a.jsonl", b"\0" * 100_000 + b'{"a":1}\n2\n')])
    (first,) = lines.between(1, 1)
    assert (first.line.nuls, first.line.raw, first.line.length) == (100_000, b'{"a":1}', 100_007)


def test_of_an_endless_line_only_the_head_is_held(tmp_path: Path) -> None:
    lines = ThreadLines([log_at(tmp_path / "a.jsonl", b"x" * (33 << 20) + b"\n2\n")])
    (first,) = lines.between(1, 1)
    assert (first.line.length, len(first.line.raw), first.line.whole) == (33 << 20, 64 << 10, False)
    assert lines.raw(2) == b"2"


def test_lines_for_which_there_is_no_room_are_given_by_their_heads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation_lines, "HEAD_BYTES", 4)
    monkeypatch.setattr(Room, "READ_BYTES", 25)
    lines = ThreadLines([log_at(tmp_path / "a.jsonl", b"\n".join([b"0123456789"] * 3 + [b"0123", b"end"]))])
    room = Room()
    found = list(lines.between(1, 5, room=room))
    assert [one.line.raw for one in found] == [b"0123456789", b"0123456789", b"0123", b"0123", b"end"]
    assert [one.line.whole for one in found] == [True, True, False, True, True]
    assert [one.line.length for one in found] == [10, 10, 10, 4, 3]
    assert room.is_short
    assert [len(raw) for _, _, raw in raws(lines, 1, 5)] == [
        10,
        10,
        10,
        4,
        3,
    ]  # who keeps none has room for all


def test_room_is_taken_by_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation_lines, "HEAD_BYTES", 4)
    monkeypatch.setattr(Room, "KEPT_BYTES", 20)
    room = Room()
    assert [room.fits(10) for _ in range(5)] == [True] * 5
    room.keep(11)
    assert (room.fits(10), room.fits(9), room.fits(4)) == (False, True, True)


def test_a_line_is_read_when_it_is_wanted(tmp_path: Path) -> None:
    log = log_at(tmp_path / "a.jsonl", b"1\n2\n3\n")
    found = ThreadLines([log]).between(1, 3)
    assert next(found).line.raw == b"1"
    log.path.write_bytes(b"1\nX\n3\n")
    assert next(found).line.raw == b"X"


@pytest.mark.parametrize("kind", [FileKind.TRANSCRIPT, FileKind.DOCUMENT])
def test_blocks_hold_the_head_of_an_endless_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: FileKind
) -> None:
    monkeypatch.setattr(conversation_lines, "CHUNK", 2)
    monkeypatch.setattr(conversation_lines, "KEPT_BYTES", 30)
    monkeypatch.setattr(conversation_lines, "HEAD_BYTES", 4)
    data = b"one\ntwo\n" + b"0123456789" * 4 + b"\nlast\n" + b"9876543210" * 4
    lines = ThreadLines([log_at(tmp_path / "a.json", data, kind=kind)])
    if kind is FileKind.DOCUMENT:
        assert list(lines.chunks()) == [(1, b"one\n\n")]
    else:
        blocks = [(1, b"one\ntwo\n"), (3, b"0123\n"), (4, b"last\n"), (5, b"9876\n")]
        assert list(lines.chunks()) == blocks


def test_blocks_hold_every_line_once(tmp_path: Path) -> None:
    dice = random.Random(1)
    data = b"".join(b"%d " % n + b"x" * dice.randrange(9000) + b"\n" for n in range(2500))
    lines = ThreadLines([log_at(tmp_path / "a.jsonl", data), log_at(tmp_path / "b.jsonl", b"last\nrest")])
    blocks = list(lines.chunks())
    assert b"".join(block for _, block in blocks) == data + b"last\nrest\n"
    at = 1
    for first, block in blocks:
        assert first == at
        at += block.count(b"\n")
    assert len(blocks) > 2
