from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from zstandard import ZstdCompressor

from tracklog.app.usage import line_numbers, with_lines
from tracklog.model.events import Place
from tracklog.model.usage import Entry, Tokens
from tracklog.sources.files import CHUNK


def entry(path: Path, offset: int, at: str | None) -> Entry:
    return Entry(
        key=f"{offset}",
        id=f"{offset}",
        agent="claude",
        session="s",
        thread="main",
        place=Place(str(path), offset),
        at=at,
        model=None,
        tokens=Tokens(),
        certainty="partial",
    )


def test_offsets_become_lines_and_the_oldest_comes_first(tmp_path: Path) -> None:
    log, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    log.write_bytes(b"{}\n\n{}\n")
    other.write_bytes(b"{}\n")
    entries = [entry(log, 4, "2026-03-02"), entry(log, 0, "2026-03-01"), entry(other, 0, None)]
    assert [(one.place.path, one.place.line) for one in with_lines(entries)] == [
        (str(other), 1),
        (str(log), 1),
        (str(log), 3),
    ]


def test_a_log_that_is_gone_or_shorter_by_now_has_no_line(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(b"{}\n")
    assert line_numbers(log, {0, 99}) == {0: 1}
    assert [one.place.line for one in with_lines([entry(tmp_path / "gone", 7, None)])] == [0]


def test_lines_are_counted_over_all_chunks(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(b"x" * (CHUNK - 2) + b"\n\n\n" + b"y" * CHUNK + b"\nz")
    assert line_numbers(log, {0, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 2}) == {
        0: 1,
        CHUNK - 1: 2,
        CHUNK: 3,
        CHUNK + 1: 4,
        2 * CHUNK + 2: 5,
    }


def test_of_a_compressed_log_the_contents_are_counted(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl.zst"
    log.write_bytes(ZstdCompressor().compress(b"{}\n{}\n"))
    assert line_numbers(log, {3}) == {3: 2}


@given(st.binary(max_size=60), st.sets(st.integers(0, 59)))
def test_every_offset_has_as_many_newlines_before_it(content: bytes, offsets: set[int]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "a.jsonl"
        log.write_bytes(content)
        inside = {offset for offset in offsets if offset < len(content)}
        assert line_numbers(log, offsets) == {
            offset: content.count(b"\n", 0, offset) + 1 for offset in inside
        }
