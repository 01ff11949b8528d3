"""Reading a compressed log left its file to the garbage collector, which warned (`ResourceWarning: unclosed file`).

The buffer in front of a compressed stream took the file with it when it went away. A program that runs with
`-W error` saw an exception of ours in the middle of its own work. A log that we failed at left its file in the archive
open.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import zstandard

from tracklog.sources.files import NotReadable, chunks

CONTENT = b'{"a": 1}\n' * 50_000


@pytest.fixture(autouse=True)
def warned() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found
        gc.collect()
    assert [str(one.message) for one in found if one.category is ResourceWarning] == []


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(CONTENT))
    return path


def test_a_compressed_log_is_closed_at_its_end(packed: Path) -> None:
    assert b"".join(chunks(packed)) == CONTENT


def test_one_that_is_left_in_the_middle_is_closed(packed: Path) -> None:
    assert next(chunks(packed, size=100)) == CONTENT[:100]
    with closing(chunks(packed)) as pieces:  # type: ignore[type-var]
        next(pieces)


def test_a_damaged_one_is_closed(packed: Path) -> None:
    packed.write_bytes(packed.read_bytes()[:-3])
    with pytest.raises(NotReadable):
        b"".join(chunks(packed))
