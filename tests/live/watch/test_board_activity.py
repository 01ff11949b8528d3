from __future__ import annotations

import json
from pathlib import Path

import pytest

from tracklog.clock import moment_text
from tracklog.live.watch.session import MINUTE_MS, SHOWN, Activity, Minutes, began_ms, minutes_in
from tracklog.sources.files import NotReadable
from tracklog.sources.log_file import FileKind, LogFile

NOON = 1_800_000_000_000 // MINUTE_MS * MINUTE_MS


def log(path: Path, moments: list[int], size: int = 10) -> LogFile:
    lines = (json.dumps({"timestamp": moment_text(at), "text": "x" * size}) for at in moments)
    path.write_text("".join(f"{line}\n" for line in lines))
    return LogFile("claude", FileKind.TRANSCRIPT, path, path.parent, "s", path.stat().st_size, 0, 0, 0)


def test_lines_are_counted_by_the_minute(tmp_path: Path) -> None:
    file = log(tmp_path / "s.jsonl", [NOON - 3 * MINUTE_MS, NOON - 3 * MINUTE_MS + 59_000, NOON - MINUTE_MS])
    minutes = minutes_in(file, NOON)
    assert minutes.last(NOON - 1, n=5) == [0, 0, 2, 0, 1]
    assert began_ms(file) == NOON - 3 * MINUTE_MS


def test_what_was_watched_is_not_counted_again(tmp_path: Path) -> None:
    at = [NOON - 2 * MINUTE_MS, NOON - MINUTE_MS, NOON]
    activity = Activity()
    for one in at[1:]:
        activity.add(one)
    before = minutes_in(log(tmp_path / "s.jsonl", at), activity.first_ms)
    assert activity.with_before(before, NOON).last(NOON, n=4) == [0, 1, 1, 1]


def test_an_hour_is_remembered_and_no_more(tmp_path: Path) -> None:
    file = log(tmp_path / "s.jsonl", [NOON - n * MINUTE_MS for n in range(200, 0, -1)])
    activity = Activity()
    for n in range(300):
        activity.add(NOON + n * MINUTE_MS)
    told = activity.with_before(minutes_in(file, NOON), NOON + 299 * MINUTE_MS)
    assert told.last(NOON + 299 * MINUTE_MS) == [1] * SHOWN
    assert len(told.lines) == SHOWN


def test_of_a_huge_hour_only_the_end_is_known_and_that_is_said(tmp_path: Path) -> None:
    file = log(tmp_path / "s.jsonl", [NOON - n * MINUTE_MS for n in range(30, 0, -1)], size=1 << 20)
    known = minutes_in(file, NOON).last(NOON - 1)
    assert known[:40] == [None] * 40
    assert known[-5:] == [1] * 5


def test_a_log_without_times_has_no_beginning(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"text":"no time: \\"timestamp\\":\\"2026-01-01T00:00:00.000Z\\""}\n')
    file = LogFile("claude", FileKind.TRANSCRIPT, path, tmp_path, "s", 1, 0, 0, 0)
    assert began_ms(file) is None
    assert minutes_in(file, None) == Minutes()
    assert Activity().with_before(Minutes(), NOON).last(NOON) == [None] * SHOWN


def test_a_log_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    file = LogFile("claude", FileKind.TRANSCRIPT, tmp_path / "gone", tmp_path, "s", 1, 0, 0, 0)
    with pytest.raises(NotReadable):
        began_ms(file)
