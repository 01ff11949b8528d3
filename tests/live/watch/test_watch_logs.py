from __future__ import annotations

import json
from pathlib import Path

import pytest

from tracklog.agents.discovery import find_one
from tracklog.live.watch import follow
from tracklog.live.watch.follow import OF_A_QUIET_ONE
from tracklog.live.watch.tail import PATIENCE_S, FollowedLogs, Tail, TailChunk
from tracklog.sources.log_file import LogFile, Root

SESSION = "11111111-aaaa-4aaa-8aaa-111111111111"
HOUR_S = 3600.0


class Clock:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def prompt(text: str) -> bytes:
    message = {"role": "user", "content": text}
    return (
        json.dumps({"type": "user", "sessionId": SESSION, "uuid": text, "message": message}).encode() + b"\n"
    )


def place(home: Path, project: str = "-p") -> Path:
    path = home / "projects" / project / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def write(path: Path, *texts: str) -> None:
    with path.open("ab") as stream:
        stream.write(b"".join(map(prompt, texts)))


def found(path: Path) -> LogFile:
    file = find_one(str(path), [Root(path.parents[2], "claude")])
    assert file is not None
    return file


def told(logs: FollowedLogs, path: Path) -> list[str]:
    """What is told of a log that has changed."""
    file = found(path)
    tail = logs.changed(file) or logs.follow(file)
    assert tail is not None
    list(tail.before())
    return [json.loads(step.piece.raw)["uuid"] for step in tail.more() if isinstance(step, TailChunk)]


def test_what_stands_there_when_nobody_watched_before_is_no_news(tmp_path: Path) -> None:
    path, logs = place(tmp_path), FollowedLogs()
    write(path, "a")
    logs.begin([found(path)])
    write(path, "b")
    assert told(logs, path) == ["b"]


def test_a_log_that_came_since_is_news_from_its_first_line_on(tmp_path: Path) -> None:
    path, logs = place(tmp_path), FollowedLogs()
    logs.begin([])
    write(path, "a")
    assert told(logs, path) == ["a"]


def test_who_watched_before_goes_on_where_that_was(tmp_path: Path) -> None:
    path = place(tmp_path)
    write(path, "a", "b")
    logs = FollowedLogs({str(path): len(prompt("a"))})
    logs.begin([found(path)])
    assert told(logs, path) == ["b"]


def test_a_log_that_moves_from_folder_to_folder_and_back_is_told_once(tmp_path: Path) -> None:
    here, there, logs = place(tmp_path), place(tmp_path, "-q"), FollowedLogs()
    write(here, "a")
    assert told(logs, here) == ["a"]
    write(here, "b")
    here.rename(there)
    assert told(logs, there) == ["b"]
    write(there, "c")
    there.rename(here)
    write(here, "d")
    assert told(logs, here) == ["c", "d"]


@pytest.mark.parametrize("way", [("-p",), ("-r", "-s"), ("-r", "-p")])
def test_a_log_that_went_while_others_were_read_is_not_followed_at_its_old_place(
    tmp_path: Path, way: tuple[str, ...]
) -> None:
    """Whoever had looked at it just before it was moved took it up a second time, where nothing stood any more: when the
    log came back there, or moved on, it was told from its beginning."""
    here, there, logs = place(tmp_path), place(tmp_path, "-q"), FollowedLogs()
    write(here, "a")
    assert told(logs, here) == ["a"]
    looked_at = found(here)
    here.rename(there)
    write(there, "b")
    assert told(logs, there) == ["b"]
    assert logs.changed(looked_at) is None
    assert logs.follow(looked_at) is None
    for project in way:
        there = there.rename(place(tmp_path, project))
        write(there, project)
        assert told(logs, there) == [project]


def test_a_log_that_is_put_aside_and_begun_anew_elsewhere_is_told_to_its_end(tmp_path: Path) -> None:
    here, there, logs = place(tmp_path), place(tmp_path, "-q"), FollowedLogs()
    write(here, "a")
    assert told(logs, here) == ["a"]
    write(here, "b")
    here.rename(here.with_suffix(".jsonl.1"))
    write(there, "c")
    assert told(logs, there) == ["b", "c"]


def test_a_log_that_is_rewritten_and_moved_before_anybody_looks_is_told_once(tmp_path: Path) -> None:
    here, there, logs = place(tmp_path), place(tmp_path, "-q"), FollowedLogs()
    write(here, "a", "b")
    assert told(logs, here) == ["a", "b"]
    here.unlink()
    write(there, "b", "c")
    assert told(logs, there) == ["c"]


def test_a_log_that_moved_while_nobody_watched_is_told_from_where_it_was(tmp_path: Path) -> None:
    here, there = place(tmp_path), place(tmp_path, "-q")
    write(there, "a", "b")
    logs = FollowedLogs({str(here): len(prompt("a"))})
    assert told(logs, there) == ["b"]


def test_a_log_that_was_put_aside_under_another_name_of_a_log_is_not_told_again(tmp_path: Path) -> None:
    path, logs = place(tmp_path), FollowedLogs()
    write(path, "a")
    assert told(logs, path) == ["a"]
    write(path, "b")
    aside = path.rename(path.with_name("22222222-bbbb-4bbb-8bbb-222222222222.jsonl"))
    write(path, "c")
    assert told(logs, path) == ["b", "c"]
    assert told(logs, aside) == []
    write(aside, "d")
    assert told(logs, aside) == ["d"]


def test_a_copy_is_another_log(tmp_path: Path) -> None:
    path, copy, logs = place(tmp_path), place(tmp_path, "-q"), FollowedLogs()
    write(path, "a")
    assert told(logs, path) == ["a"]
    copy.write_bytes(path.read_bytes())
    assert told(logs, copy) == ["a"]


def test_a_quiet_log_is_forgotten_and_taken_up_where_it_was(tmp_path: Path) -> None:
    clock = Clock()
    path, logs = place(tmp_path), FollowedLogs(clock=clock)
    write(path, "a")
    assert told(logs, path) == ["a"]
    clock.now += HOUR_S + 1
    assert logs.sweep({str(path)})
    assert logs.changed(found(path)) is None
    assert logs.offsets({str(path): found(path)}) == {str(path): path.stat().st_size}
    write(path, "b")
    assert told(logs, path) == ["b"]


def test_of_a_log_that_is_quiet_for_a_minute_only_the_last_lines_are_remembered(tmp_path: Path) -> None:
    clock = Clock()
    quiet, busy, logs = place(tmp_path), place(tmp_path, "-q"), FollowedLogs(clock=clock)
    names = [f"line {n}" for n in range(1000)]
    for path in (quiet, busy):
        write(path, *names)
        assert told(logs, path) == names
    clock.now += 61.0
    assert told(logs, busy) == []
    assert not logs.sweep({str(quiet), str(busy)})
    n_remembered = {path: len(tail._marks._marks) for path, tail in logs._tails.items()}
    assert n_remembered == {str(quiet): OF_A_QUIET_ONE, str(busy): 1000}
    write(quiet, "more")
    assert told(logs, quiet) == ["more"]


def test_a_log_of_which_nothing_is_known_again_is_undecided_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "MOST_REMEMBERED", 100)
    clock = Clock()
    path, logs = place(tmp_path), FollowedLogs(clock=clock)
    write(path, *(f"line {n}" for n in range(300)))
    told(logs, path)
    assert logs.undecided() == []
    path.write_bytes(prompt("a"))
    assert told(logs, path) == []
    assert [tail.file.path for tail in logs.undecided()] == [path]
    clock.now += PATIENCE_S
    assert told(logs, path) == ["a"]
    assert logs.undecided() == []


def test_a_log_that_moved_and_left_a_link_is_followed_where_it_is(tmp_path: Path) -> None:
    path, logs = place(tmp_path), FollowedLogs()
    write(path, "a")
    assert told(logs, path) == ["a"]
    there = path.rename(place(tmp_path, "-q"))
    path.symlink_to(there)
    write(there, "b")
    assert told(logs, there) == ["b"]


def test_of_a_log_that_is_gone_nothing_is_kept(tmp_path: Path) -> None:
    clock = Clock()
    path, logs = place(tmp_path), FollowedLogs(clock=clock)
    write(path, "a")
    told(logs, path)
    path.unlink()
    clock.now += HOUR_S + 1
    logs.sweep(())
    assert logs.offsets({}) == {}


def test_what_it_takes_to_follow_a_log_does_not_grow_with_the_number_of_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each log was compared with every log that was followed before: a thousand subagents took a million comparisons."""
    n_compared = 0
    offset_in = Tail.offset_in

    def counted(tail: Tail, file: LogFile) -> int | None:
        nonlocal n_compared
        n_compared += 1
        return offset_in(tail, file)

    monkeypatch.setattr(Tail, "offset_in", counted)
    paths = [tmp_path / "projects" / "-p" / f"{n:08}-aaaa-4aaa-8aaa-111111111111.jsonl" for n in range(60)]
    paths[0].parent.mkdir(parents=True)
    logs = FollowedLogs()
    logs.begin([])
    for path in paths:
        write(path, "a")
        assert told(logs, path) == ["a"]
    assert n_compared <= len(paths)


def test_a_log_that_is_renamed_and_moved_goes_on(tmp_path: Path) -> None:
    path, logs = place(tmp_path), FollowedLogs()
    logs.begin([])
    write(path, "a")
    told(logs, path)
    there = tmp_path / "projects" / "-q" / path.name.replace("11111111-", "22222222-")
    there.parent.mkdir()
    path.rename(there)
    write(there, "b")
    assert told(logs, there) == ["b"]
