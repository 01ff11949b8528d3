"""What a client says on its stdout, however its bytes arrive."""

from __future__ import annotations

import pytest

from tracklog.model.run_request import session_in
from tracklog.run import stream
from tracklog.run.stream import DocumentSplitter, LastWords

SAID = b'{"type":"a"}\nnot json\n\n[1,2]\n{"type":"b","x":"\xc3\xa4"}\n{"type":"c"}'


@pytest.mark.parametrize("bite", [1, 2, 7, 1000])
def test_the_same_documents_come_however_the_bytes_are_cut(bite: int) -> None:
    lines = DocumentSplitter()
    found = [d for at in range(0, len(SAID), bite) for d in lines.cut(SAID[at : at + bite])]
    assert found == [{"type": "a"}, {"type": "b", "x": "ä"}]
    assert lines.end() == [{"type": "c"}]
    assert list(lines.noise) == ["not json", "[1,2]"]


def test_an_endless_line_is_left_out_and_the_next_one_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "LONGEST_LINE", 100)
    lines = DocumentSplitter()
    for _ in range(50):
        assert lines.cut(b"x" * 10) == []
    assert lines.cut(b'rest\n{"type":"a"}\n') == [{"type": "a"}]
    assert any("left out" in one for one in lines.noise)


def test_of_stderr_the_last_words_are_kept() -> None:
    words = LastWords()
    words.add(b"first " * 10_000)
    words.add("zuletzt: ä\n".encode())
    assert words.text.endswith("zuletzt: ä")
    assert len(words.text) <= 4_000


def test_garbage_never_raises() -> None:
    lines = DocumentSplitter()
    assert lines.cut(b"\xff\xfe\n" + b"[" * 100_000 + b"\n" + b'{"a":' * 50_000 + b"\n") == []
    assert len(lines.noise) == 3


def test_half_a_letter_is_read_as_one_that_is_unknown() -> None:
    lines = DocumentSplitter()
    halves = b'{"type":"result","result":"cut \\ud83d here","\\udcff":["\\ud83d\\ude00"]}\n'
    assert lines.cut(halves) == [{"type": "result", "result": "cut \ufffd here", "\ufffd": ["\U0001f600"]}]
    assert list(lines.noise) == []


def test_what_is_nested_too_deep_to_be_written_again_is_noise() -> None:
    lines = DocumentSplitter()
    assert lines.cut(b'{"a":' * 500 + b"1" + b"}" * 500 + b"\n") == []
    assert len(lines.noise) == 1


@pytest.mark.parametrize("odd", ["../../x", "a\0b", "", "x" * 129, 5, None, {"a": 1}])
def test_what_cannot_be_a_part_of_a_path_is_no_session(odd: object) -> None:
    assert session_in(odd) is None
    assert session_in("0b7c2c1e-0000-4000-8000-000000000001") == "0b7c2c1e-0000-4000-8000-000000000001"
