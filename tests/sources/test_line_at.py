from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from zstandard import ZstdCompressor

from tracklog.sources.files import CHUNK
from tracklog.sources.line_at import FIRST_LOOK, first_line, line_at, line_numbers
from tracklog.sources.lines import cut


def test_a_log_that_is_gone_or_shorter_by_now_has_no_line(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(b"{}\n")
    assert line_numbers(log, {0, 99}) == {0: 1}
    assert line_numbers(tmp_path / "gone", {0}) == {}
    assert line_at(log, 99, 7) is None


def test_a_long_line_is_read_to_its_end(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(b"{}\n" + b"x" * (3 * FIRST_LOOK) + b"\nz")
    line = line_at(log, 3, 2)
    assert line is not None
    assert (line.number, line.offset, line.length, line.ended) == (2, 3, 3 * FIRST_LOOK, True)


@given(st.binary(max_size=60))
def test_a_line_by_its_address_is_the_line_of_the_whole(content: bytes) -> None:
    for line in cut([content]):
        assert first_line([content[line.offset :]], line.offset, line.number) == line


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
