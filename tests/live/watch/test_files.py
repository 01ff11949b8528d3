from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tracklog.agents.discovery import find_all
from tracklog.live.watch.files import WatchedFiles
from tracklog.sources.log_file import FileKind, LogFile, Root
from tracklog.sources.tail.hints import Hints

ONE = "11111111-aaaa-4aaa-8aaa-111111111111"
TWO = "22222222-bbbb-4bbb-8bbb-222222222222"
LIMIT_S = 8.0


def transcript(home: Path, session: str = ONE) -> Path:
    return home / "projects" / "-p" / f"{session}.jsonl"


def write(path: Path, data: bytes = b"{}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        stream.write(data)
    return path


class Clock:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Callable[..., WatchedFiles]]:
    made: list[WatchedFiles] = []

    def make(clock: Callable[[], float] = time.monotonic) -> WatchedFiles:
        made.append(WatchedFiles([Root(tmp_path, "claude")], clock=clock))
        return made[-1]

    yield make
    for one in made:
        one.close()


def heard_of(watched: WatchedFiles, path: Path) -> LogFile:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        for file in watched.wait(0.1):
            if file.path == path:
                return file
    raise AssertionError(f"nothing was told of {path}")


def test_at_first_everything_that_is_there_is_told(
    tmp_path: Path, watched: Callable[..., WatchedFiles]
) -> None:
    write(transcript(tmp_path))
    assert [file.path for file in watched().begin()] == [transcript(tmp_path)]


def test_a_log_that_grows_is_told_with_its_new_size(
    tmp_path: Path, watched: Callable[..., WatchedFiles]
) -> None:
    path = write(transcript(tmp_path))
    files = watched()
    files.begin()
    files.wait(0.05)
    write(path, b"{}\n{}\n")
    assert heard_of(files, path).size == 9


def test_a_log_rewritten_with_its_length_and_time_is_told(
    tmp_path: Path, watched: Callable[..., WatchedFiles]
) -> None:
    clock = Clock()
    path = write(transcript(tmp_path))
    files = watched(clock=clock)
    files.begin()
    files._hints.problem = "no watches are left"
    times = path.stat()
    path.write_bytes(b"[]\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    clock.now += 60
    assert [file.path for file in files.wait(0.0)] == [path]


def test_a_new_log_is_told_with_what_its_place_says(
    tmp_path: Path, watched: Callable[..., WatchedFiles]
) -> None:
    write(transcript(tmp_path))
    files = watched()
    files.begin()
    files.wait(0.05)
    agent = write(transcript(tmp_path).with_suffix("") / "subagents" / "agent-a1.jsonl")
    file = heard_of(files, agent)
    assert (file.kind, file.session, file.agent) == (FileKind.SUBAGENT, ONE, "claude")


def test_the_first_log_of_a_home_that_was_empty_is_told(
    tmp_path: Path, watched: Callable[..., WatchedFiles]
) -> None:
    files = watched()
    assert files.begin() == []
    path = write(transcript(tmp_path))
    assert heard_of(files, path).session == ONE


def test_a_log_that_is_gone_is_told_once(tmp_path: Path, watched: Callable[..., WatchedFiles]) -> None:
    path = write(transcript(tmp_path))
    files = watched()
    files.begin()
    files.wait(0.05)
    path.unlink()
    assert heard_of(files, path).size == -1
    assert files.wait(0.05) == []


def test_without_hints_everything_is_still_seen(tmp_path: Path, watched: Callable[..., WatchedFiles]) -> None:
    clock = Clock()
    path = write(transcript(tmp_path))
    files = watched(clock=clock)
    files.begin()
    files._hints.problem = "no watches are left"
    assert files.why_without_hints == "no watches are left"
    write(path)
    write(transcript(tmp_path, TWO))
    clock.now += 11
    assert {file.path for file in files.wait(0.01)} == {path, transcript(tmp_path, TWO)}
    assert files.wait(0.01) == []


def test_a_quiet_home_is_seldom_looked_at(tmp_path: Path, watched: Callable[..., WatchedFiles]) -> None:
    """A change that no hint told of is seen by the look at everything, and not before."""
    clock = Clock()
    path = write(transcript(tmp_path))
    files = watched(clock=clock)
    files.begin()
    files._lately.clear()
    files._hints = Hints([])
    write(path)
    clock.now += 30
    assert files.wait(0.01) == []
    clock.now += 31
    assert [file.path for file in files.wait(0.01)] == [path]


def test_a_look_at_the_changed_folders_finds_what_a_search_finds(
    tmp_path: Path, watched: Callable[..., WatchedFiles]
) -> None:
    """No hint tells of it; only folders that changed are listed, and new ones below them."""
    clock = Clock()
    write(transcript(tmp_path))
    files = watched(clock=clock)
    files.begin()
    files._hints.close()
    files._hints.wait(0.0)
    new = [
        transcript(tmp_path, TWO),
        tmp_path / "projects" / "-new" / f"{ONE}.jsonl",
        transcript(tmp_path).with_suffix("") / "subagents" / "agent-a1.jsonl",
        transcript(tmp_path, TWO).with_suffix("") / "subagents" / "workflows" / "wf_1" / "agent-a2.jsonl",
    ]
    for path in new:
        write(path)
    write(tmp_path / "projects" / "-p" / "memory" / "notes.jsonl")
    write(tmp_path / "projects" / "-p" / "notes.txt")
    clock.now += 11
    assert sorted(file.path for file in files.wait(0.01)) == sorted(new)
    assert sorted(files.known) == sorted(
        str(file.path) for file in find_all([Root(tmp_path, "claude")]) if isinstance(file, LogFile)
    )
    clock.now += 11
    assert files.wait(0.01) == []


def test_what_changes_in_the_home_itself_makes_nobody_search_it(
    tmp_path: Path, watched: Callable[..., WatchedFiles]
) -> None:
    """Clients write their settings there all the time."""
    clock = Clock()
    write(transcript(tmp_path))
    files = watched(clock=clock)
    files.begin()
    write(tmp_path / "plugins" / "cache" / "log.jsonl")
    write(tmp_path / "history.jsonl")
    clock.now += 11
    assert [file.path.name for file in files.wait(0.05)] == ["history.jsonl"]
    assert str(tmp_path / "plugins") not in files._folders


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts watches")
def test_where_fewer_folders_are_watched_than_there_are_that_is_said(
    tmp_path: Path, watched: Callable[..., WatchedFiles]
) -> None:
    write(transcript(tmp_path))
    files = watched()
    files.begin()
    assert (files.n_folders, files.why_without_hints) == (2, None)
    for n in range(3):
        files._folders[f"{tmp_path}/projects/-p{n}"] = 1  # as if they had found no watch
    files._count_watches()
    assert files.why_without_hints == "the system watches only 2 of 5 folders"
    files._list()
    files._count_watches()
    assert files.why_without_hints is None


def test_who_cannot_wait_at_all_is_told_at_once_what_changed_lately(
    tmp_path: Path, watched: Callable[..., WatchedFiles]
) -> None:
    files, path = watched(Clock()), write(transcript(tmp_path))  # a clock that stands: no look is due
    files.begin()
    write(path)
    assert [(file.path, file.size) for file in files.wait(0.0)] == [(path, 6)]
    path.unlink()
    assert [(file.path, file.size) for file in files.wait(0.0)] == [(path, -1)]
