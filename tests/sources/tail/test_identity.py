"""Every case of "is it still the same file?", with its answer; and whatever happens to a file, the bytes decide."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.soak import examples
from tests.sources.tree import locked
from tracklog.sources.files import NotReadable
from tracklog.sources.log_file import FileKind, FileStamp, LogFile
from tracklog.sources.tail.identity import (
    HEAD_BYTES,
    TAIL_BYTES,
    FileIdentity,
    IdentityTracker,
    bytes_at,
    is_gone,
    pieces_of,
)

LINES = b"".join(b'{"n":%d,"text":"%s"}\n' % (n, b"x" * (n * 7 % 300)) for n in range(400))
HALF = b'{"n":400,"half'
assert len(LINES) > 3 * HEAD_BYTES


def known(path: Path, offset: int | None = None) -> FileIdentity:
    """What is remembered of a file that was read to an offset, or to its end."""
    tracker = IdentityTracker()
    tracker.add(path.read_bytes()[:offset])
    return tracker.identity(path.stat())


def append(path: Path, data: bytes = b"more\n") -> None:
    with path.open("ab") as stream:
        stream.write(data)


def put(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as stream:
        stream.seek(at)
        stream.write(data)


def replace(path: Path, data: bytes) -> None:
    """As programs do that write a file whole: another inode."""
    other = path.with_name("other")
    other.write_bytes(data)
    other.replace(path)


def grow_in_the_past(path: Path) -> None:
    append(path)
    os.utime(path, (1, 1))


def cut_and_grow(path: Path) -> None:
    size = path.stat().st_size
    os.truncate(path, size // 2)
    append(path, b"y" * size)


def delete_and_write_again(path: Path) -> None:
    """A file system may give the inode again: what counts are the bytes."""
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


def delete_the_folder(path: Path) -> None:
    path.unlink()
    path.parent.rmdir()


def become_a_link(path: Path) -> None:
    path.rename(path.with_name("away"))
    path.symlink_to("away")


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def become_a_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.fixture(
    params=[LINES, LINES + HALF, b"short\n", b"x", LINES[:HEAD_BYTES]],
    ids=["lines", "half", "short", "byte", "head"],
)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "a.jsonl"
    path.parent.mkdir()
    path.write_bytes(request.param)
    return path


@pytest.mark.parametrize(
    ("happens", "answer"),
    [
        (lambda _: None, "same"),
        (lambda path: os.utime(path, (1, 1)), "same"),
        (lambda path: path.chmod(0o600), "same"),
        (lambda path: replace(path, path.read_bytes()), "same"),
        (delete_and_write_again, "same"),
        (append, "grown"),
        (lambda path: append(path, b"x" * (2 << 20)), "grown"),
        (grow_in_the_past, "grown"),
        (lambda path: replace(path, path.read_bytes() + b"more\n"), "grown"),
        (lambda path: os.truncate(path, 0), "rewritten"),
        (lambda path: os.truncate(path, path.stat().st_size - 1), "rewritten"),
        (cut_and_grow, "rewritten"),
        (lambda path: put(path, 0, b"["), "rewritten"),
        (lambda path: put(path, path.stat().st_size - 1, b" "), "rewritten"),
        (lambda path: path.write_bytes(b"another one"), "rewritten"),
        (lambda path: replace(path, b"another one"), "replaced"),
        (lambda path: replace(path, b""), "replaced"),
        (lambda path: replace(path, b"[" + path.read_bytes()[1:] + b"more\n"), "replaced"),
        (lambda path: path.unlink(), "gone"),
        (delete_the_folder, "gone"),
        (become_a_link, "gone"),
        (become_a_folder, "gone"),
        (become_a_fifo, "gone"),
    ],
)
def test_what_happens_to_a_file_has_one_answer(
    path: Path, happens: Callable[[Path], object], answer: str
) -> None:
    before = known(path)
    happens(path)
    assert before.compare(path) == answer


def test_a_file_that_was_read_in_part_has_grown(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINES)
    before = known(path, 5_000)
    assert before.compare(path) == "grown"
    put(path, 5_000, b"what was not read may be another one")
    assert before.compare(path) == "grown"
    put(path, 4_999, b"!")
    assert before.compare(path) == "rewritten"


def test_of_nothing_that_was_read_everything_is_new(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    before = known(path)
    assert before.compare(path) == FileIdentity(1, 2).compare(path) == "same"
    path.write_bytes(b"x")
    assert before.compare(path) == FileIdentity(1, 2).compare(path) == "grown"


def test_without_marks_nothing_is_known_again(tmp_path: Path) -> None:
    """Of a log whose copy in the archive could not be read no marks were taken."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    status = path.stat()
    assert FileIdentity(status.st_dev, status.st_ino, 4).compare(path) == "rewritten"
    assert FileIdentity(0, 0, 4).compare(path) == "replaced"


def test_a_line_written_over_by_one_that_ends_alike_is_seen(tmp_path: Path) -> None:
    """As two results of the same program do."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINES + b"A" * 10 + b"same " * 400 + b"\n")
    before = known(path)
    put(path, len(LINES), b"B" * 10)
    assert before.compare(path) == "rewritten"


def test_a_change_in_the_middle_that_leaves_all_marks_is_not_seen(tmp_path: Path) -> None:
    """What is promised ends here: whoever must know compares the times, and all bytes where they differ."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINES)
    before, stamp = known(path), FileStamp.of(path.stat())
    put(path, HEAD_BYTES, b"!")
    os.utime(path, (1, 1))
    assert before.compare(path) == "same"
    assert FileStamp.of(path.stat()) != stamp
    put(path, HEAD_BYTES - 1, b"!")
    assert before.compare(path) == "rewritten"


def test_a_file_that_we_may_not_read_is_not_gone() -> None:
    with locked("a.jsonl") as top:
        before = known(top / "open.jsonl")
        for path in (top / "locked" / "a.jsonl", top / "locked" / "none.jsonl"):
            assert not is_gone(path)
            with pytest.raises(NotReadable, match="permission denied"):
                before.compare(path)
        assert before.compare(top / "none.jsonl") == "gone"


def log_file(path: Path, *, fallback: Path | None = None) -> LogFile:
    return LogFile("codex", FileKind.TRANSCRIPT, path, path.parent, None, 0, 0, 0, 0, fallback=fallback)


@pytest.mark.parametrize("offset", [1, TAIL_BYTES, HEAD_BYTES, len(LINES)])
def test_a_log_that_was_compressed_goes_on(tmp_path: Path, offset: int) -> None:
    path, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.zst"
    path.write_bytes(LINES)
    before = known(path, offset)
    packed.write_bytes(zstandard.compress(LINES[:offset]))
    assert before.compare(packed) == "same"
    packed.write_bytes(zstandard.compress(LINES[:offset] + b"more"))
    assert before.compare(packed) == "grown"
    packed.write_bytes(zstandard.compress(LINES[: offset - 1]))
    assert before.compare(packed) == "replaced"
    packed.write_bytes(zstandard.compress(LINES[: offset - 1] + b"!more"))
    assert before.compare(packed) == "replaced"
    assert before.compare(log_file(tmp_path / "none.jsonl", fallback=packed)) == "replaced"
    packed.unlink()
    assert before.compare(packed) == "gone"


def test_a_compressed_log_that_is_damaged_is_as_far_as_it_can_be_read(tmp_path: Path) -> None:
    path, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.zst"
    path.write_bytes(LINES)
    packed.write_bytes(zstandard.compress(LINES) + b"no frame")
    assert known(path, 5_000).compare(packed) == "grown"
    with pytest.raises(NotReadable, match="after"):
        known(path).compare(packed)


@pytest.mark.parametrize("size", [1, 7, 255, 256, 257, 5_000, 1 << 20])
def test_marks_are_the_same_however_the_bytes_come(tmp_path: Path, size: int) -> None:
    data = LINES[: 2 * HEAD_BYTES + 100] if size < 100 else LINES + HALF
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    tracker = IdentityTracker()
    for begin in range(0, len(data), size):
        tracker.add(data[begin : begin + size])
    assert tracker.identity(path.stat()) == known(path)


def test_a_copy_of_a_tracker_goes_its_own_way(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINES)
    tracker = IdentityTracker()
    tracker.add(LINES[:5_000])
    copy = tracker.copy()
    copy.add(b"another one")
    tracker.add(LINES[5_000:])
    assert tracker.identity(path.stat()) == known(path)
    assert copy.identity(path.stat()).compare(path) == "rewritten"


@pytest.mark.parametrize("offset", [0, 1, 6, 300, HEAD_BYTES, len(LINES) - 5, len(LINES)])
def test_a_tracker_goes_on_where_another_one_stopped(tmp_path: Path, offset: int) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINES)
    tracker = IdentityTracker.at(path, offset)
    assert tracker.identity(path.stat()).compare(path) == ("same" if offset == len(LINES) else "grown")
    tracker.add(LINES[offset:])
    tracker.add(b"last line\n")
    append(path, b"last line\n")
    assert tracker.identity(path.stat()) == known(path)


def test_pieces_are_read_with_one_open_also_of_a_compressed_log(tmp_path: Path) -> None:
    path, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.zst"
    path.write_bytes(LINES)
    packed.write_bytes(zstandard.compress(LINES))
    spans = [(0, 10), (5, 10), (len(LINES) - 3, 10), (len(LINES) + 5, 10)]
    wanted = [LINES[start : start + length] for start, length in spans]
    assert pieces_of(path, spans) == pieces_of(packed, spans) == wanted
    assert bytes_at(log_file(packed), 5, 10) == wanted[1]


edits = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 3), st.binary(min_size=1, max_size=40)),
        st.tuples(st.just("truncate"), st.integers(0, 20_000), st.just(b"")),
        st.tuples(st.just("rewrite"), st.integers(0, 20_000), st.binary(min_size=1, max_size=600)),
        st.tuples(st.just("replace"), st.integers(0, 1), st.binary(max_size=40)),
        st.tuples(st.just("touch"), st.just(0), st.just(b"")),
        st.tuples(st.just("delete"), st.just(0), st.just(b"")),
    ),
    max_size=4,
)


@settings(max_examples=examples(200), deadline=None)
@given(edits=edits, lines=st.integers(0, 150), is_ended=st.booleans(), offset=st.integers(0, 40_000))
def test_whatever_happens_to_a_file_the_answer_is_that_of_its_bytes(
    edits: list[tuple[str, int, bytes]], lines: int, is_ended: bool, offset: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        path.write_bytes(b"".join(LINES.splitlines(keepends=True)[:lines]) + (b"" if is_ended else HALF))
        before, data = known(path, offset), path.read_bytes()[:offset]
        for what, n, more in edits:
            edit(path, what, n, more)
        answer = before.compare(path)
        if not path.exists():
            assert answer == "gone"
            return
        now, inode = path.read_bytes(), path.stat().st_ino
        if any(now[one] != data[one] for one in promised(data)) or len(now) < len(data):
            assert answer == ("rewritten" if inode == before.inode else "replaced")
        else:
            assert answer == ("grown" if len(now) > len(data) else "same")


def edit(path: Path, what: str, n: int, data: bytes) -> None:
    """One thing that happens to a file."""
    size = path.stat().st_size if path.exists() else 0
    match what:
        case "append":
            append(path, data * (n + 1))
        case "truncate" if size:
            os.truncate(path, n % size)
        case "rewrite" if size:
            put(path, n % size, data)
        case "replace":
            replace(path, (path.read_bytes() if n and size else b"") + data)
        case "touch" if path.exists():
            os.utime(path, (1, 1))
        case "delete":
            path.unlink(missing_ok=True)


def promised(data: bytes) -> list[slice]:
    """The bytes of which every change is seen; of a file of up to 16 KiB these are all."""
    line_at = data.rfind(b"\n", 0, -1) + 1
    return [
        slice(0, min(HEAD_BYTES, len(data))),
        slice(max(len(data) - TAIL_BYTES, 0), len(data)),
        slice(line_at, min(line_at + TAIL_BYTES, len(data))),
    ]
