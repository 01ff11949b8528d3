"""The proof that nothing is lost, and that the proof itself would notice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import zstandard

from tests.agents.test_reading import found
from tests.contracts.logs import FILES
from tracklog.agents.claude_code import records
from tracklog.agents.reader import Reader
from tracklog.model.records import Piece
from tracklog.reading import verify as verifying
from tracklog.reading.verify import VerifyResult, verify
from tracklog.sources.lines import HEAD_BYTES, KEPT_BYTES, Line
from tracklog.sources.log_file import Skipped

GOOD = b'{"type":"mode","mode":"normal","sessionId":"s"}'


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_what_real_clients_wrote_is_identical(path: Path) -> None:
    raw = path.read_bytes()
    n_lines = raw.count(b"\n")
    assert verify(found(path)) == VerifyResult(
        path=str(path),
        bytes=len(raw),
        sha256=hashlib.sha256(raw).hexdigest(),
        lines=n_lines,
        pieces=n_lines,
        read=n_lines,
        identical=True,
    )


def test_torn_lines_are_counted_and_identical(tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl"
    raw = b"\n".join(
        [GOOD, GOOD[:20] + GOOD, GOOD + GOOD, bytes(200_000) + GOOD, b'{"type":"new","sessionId":"s"}', b""]
    )
    path.write_bytes(raw)
    proof = verify(found(path))
    assert proof == VerifyResult(
        path=str(path),
        bytes=len(raw),
        sha256=hashlib.sha256(raw).hexdigest(),
        lines=5,
        pieces=8,
        read=5,
        unknown=1,
        broken=2,
        recovered=4,
        identical=True,
    )


def test_a_line_kept_by_reference_is_fetched_by_its_reference(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(GOOD + b"\n" + b"x" * (KEPT_BYTES + 5) + b"\n" + GOOD)
    proof = verify(found(path))
    assert isinstance(proof, VerifyResult)
    assert (proof.identical, proof.lines, proof.read, proof.unknown) == (True, 3, 2, 1)


def test_of_a_compressed_log_bytes_and_hash_are_of_the_stored_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(zstandard.compress(GOOD + b"\n" + GOOD + b"\n"))
    proof = verify(found(path))
    assert isinstance(proof, VerifyResult)
    assert (proof.bytes, proof.sha256) == (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
    assert (proof.lines, proof.identical) == (2, True)


def test_a_file_that_is_gone_by_now_is_skipped_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD)
    file = found(path)
    path.unlink()
    assert verify(file) == Skipped(path, "does not exist")


@pytest.mark.parametrize(
    "wrong",
    [
        Line(1, 0, len(GOOD), GOOD.replace(b"normal", b"NORMAL"), 0, False),
        Line(1, 0, len(GOOD) - 1, GOOD[:-1], 0, False),
        Line(1, 0, len(GOOD), GOOD, 0, True),
        Line(1, 1, len(GOOD), GOOD[:HEAD_BYTES], 1, False),
    ],
)
def test_a_cutter_that_changes_a_byte_is_caught(
    wrong: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD)
    file = found(path)
    monkeypatch.setattr(verifying, "lines_of", lambda _, source: iter([wrong for _ in source]))
    proof = verify(file)
    assert isinstance(proof, VerifyResult)
    assert not proof.identical


class Forgetful(Reader):
    """A reader that drops what is broken."""

    def read(self, lines: Iterable[Line]) -> Iterator[Piece]:
        return (piece for piece in records.READER.read(lines) if piece.reading != "broken")


def test_a_reader_that_drops_a_piece_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD + b"\n" + GOOD[:20] + GOOD + b"\n")
    file = found(path)
    assert verify(file).identical  # type: ignore[union-attr]
    forgetful = object.__new__(Forgetful)
    monkeypatch.setattr(verifying, "reader_for", lambda _: forgetful)
    assert not verify(file).identical  # type: ignore[union-attr]


def test_a_log_that_grows_while_it_is_read_is_identical(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes((GOOD + b"\n") * 50_000)
    file = found(path)

    def grow(n_bytes: int) -> None:
        if path.stat().st_size < 3_000_000:
            with path.open("ab") as stream:
                stream.write((GOOD + b"\n") * 1000)

    proof = verify(file, tell=grow)
    assert isinstance(proof, VerifyResult)
    assert proof.identical
    assert proof.lines >= 50_000
