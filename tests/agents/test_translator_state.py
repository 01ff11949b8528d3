"""What a translator remembers comes back as it was; what has no place in a memory never does."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contracts.logs import FILES
from tracklog.agents.claude_code.translate import translator as claude_translator
from tracklog.agents.codex.records import READER
from tracklog.agents.codex.translate import translator as codex_translator
from tracklog.agents.registry import translator_of
from tracklog.agents.translator_state import packed, unpack
from tracklog.model.events import LogEvent
from tracklog.sources.lines import cut
from tracklog.sources.log_file import FileKind, LogFile

CODEX_FILES = [path for path in FILES if path.parts[-3] == "codex"]


def a_log(path: Path) -> LogFile:
    """A rollout, as a search would find it."""
    return LogFile("codex", FileKind.TRANSCRIPT, path, path.parent, None, 0, 0, 0, 0)


def all_events(path: Path, *, stop_at: int | None) -> list[list[LogEvent]]:
    """What each line of a rollout tells; at a line everything is forgotten but for what was packed."""
    told: list[list[LogEvent]] = []
    translator = translator_of(a_log(path))
    for n, piece in enumerate(READER.read(cut([path.read_bytes()]))):
        if n == stop_at:
            memory = packed(translator)
            translator = translator_of(a_log(path))
            assert unpack(memory, translator)
        told.append(translator.translate(piece))
    return told


@pytest.mark.parametrize("path", CODEX_FILES, ids=lambda path: f"{path.parts[-2]}-{path.stem[:24]}")
def test_a_rollout_that_is_read_in_two_parts_tells_the_same(path: Path) -> None:
    whole = all_events(path, stop_at=None)
    steps = max(len(whole) // 12, 1)
    for stop_at in range(0, len(whole), steps):
        assert all_events(path, stop_at=stop_at) == whole, stop_at


def test_a_translator_that_remembers_nothing_needs_no_memory() -> None:
    file = a_log(CODEX_FILES[0])._replace(agent="claude")
    assert isinstance(translator_of(file), claude_translator.ClaudeTranslator)
    assert packed(translator_of(file)) is None
    assert unpack(None, translator_of(file))


def test_without_its_memory_a_rollout_is_read_from_the_beginning() -> None:
    assert not unpack(None, translator_of(a_log(CODEX_FILES[0])))


class Runs:
    """What a hostile memory would hold."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (self.folder,)


def test_nothing_in_a_memory_is_ever_run(tmp_path: Path) -> None:
    translator = translator_of(a_log(CODEX_FILES[0]))
    before = packed(translator)
    for evil in (Runs(str(tmp_path / "made")), {"a": Runs(str(tmp_path / "made"))}):
        assert not unpack(pickle.dumps(evil), translator)
    assert not (tmp_path / "made").exists()
    assert packed(translator) == before


@pytest.mark.parametrize(
    "name",
    ["builtins eval", "builtins getattr", "os system", "posix system", "copyreg _reconstructor", "io open"],
)
def test_only_our_own_values_are_brought_back(name: str, tmp_path: Path) -> None:
    module, function = name.split()
    evil = f"c{module}\n{function}\n(V{tmp_path}/made\ntR.".encode()
    assert not unpack(evil, translator_of(a_log(CODEX_FILES[0])))


@pytest.mark.parametrize(
    ("name", "is_ours"),
    [
        ("tracklog.model.events PromptGiven", True),
        ("tracklog.model.events msgspec", False),
        ("tracklog.model.events Raw", False),
        ("tracklog.agents.codex.translate.state NamedTuple", False),
        ("tracklog.agents.codex.translate.state Piece", False),
    ],
)
def test_of_our_modules_only_what_they_define_themselves_is_brought_back(name: str, is_ours: bool) -> None:
    module, value = name.split()
    memory = f"(Va\nc{module}\n{value}\nd.".encode()  # {"a": value}
    assert unpack(memory, translator_of(a_log(CODEX_FILES[0]))) == is_ours


@given(st.binary(max_size=200), st.integers(0, 400), st.integers(0, 255))
def test_any_bytes_are_a_memory_or_none(noise: bytes, at: int, byte: int) -> None:
    translator = translator_of(a_log(CODEX_FILES[0]))
    good = packed(translator)
    assert isinstance(translator, codex_translator.CodexTranslator)
    assert good is not None
    unpack(noise, translator)
    at %= len(good)
    unpack(good[:at] + bytes([byte]) + good[at + 1 :], translator)
    unpack(good[:at], translator)
