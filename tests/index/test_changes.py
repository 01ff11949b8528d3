"""What happened to a log is told by its bytes; size, times and inode only say where to look."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import zstandard

from tests.index.known_homes import (
    Made,
    append,
    claude_session,
    claude_turn,
    index_of,
    transcript,
    two_sessions,
    write,
)
from tracklog.agents.discovery import find_all
from tracklog.index.changes import Changes, changes_in
from tracklog.sources.log_file import LogFile
from tracklog.store import catalogue
from tracklog.store.database import writing

ONE = "00000001-0000-4000-8000-000000000001"


@pytest.fixture
def made(tmp_path: Path) -> Made:
    made = two_sessions(tmp_path)
    index_of(made)
    return made


def changes(made: Made, *, is_full: bool = False) -> Changes:
    """What a search finds to be different from what the index knows."""
    found = [one for one in find_all(made.roots) if isinstance(one, LogFile)]
    with writing(made.home) as database:
        known, kin_of = catalogue.all_files(database.db), partial(catalogue.kin_of, database.db)
        return changes_in(found, known, is_full=is_full, kin_of=kin_of)


def summary(found: Changes) -> dict[str, list[str]]:
    """The names of logs, by what happened to them; nothing else is said of those that are the same."""
    told: dict[str, list[str]] = {}
    for name, rows in (("new", found.new), ("back", found.back), ("kept", found.kept), ("past", found.past)):
        told[name] = [Path(row.path).name for row in rows]
    told["moved"] = [f"{Path(row.path).name} -> {file.path.name}" for row, file in found.moved]
    for row, _, what in found.changed:
        told.setdefault(what, []).append(Path(row.path).name)
    return {name: names for name, names in told.items() if names}


def test_where_nothing_happened_nothing_is_different(made: Made) -> None:
    assert summary(changes(made)) == {}
    assert changes(made).is_nothing


def test_a_log_that_nobody_touched_is_not_opened(made: Made, opened_files: list[str]) -> None:
    opened_files.clear()
    assert changes(made).is_nothing
    assert [path for path in opened_files if path.endswith((".jsonl", ".json"))] == []


def _append(path: Path) -> None:
    append(path, b'{"type":"summary"}\n')


def _cut(path: Path) -> None:
    os.truncate(path, 700)


def _cut_to_nothing(path: Path) -> None:
    os.truncate(path, 0)


def _cut_and_grown(path: Path) -> None:
    size = path.stat().st_size
    os.truncate(path, 700)
    append(path, b"x" * size)


def _first_byte(path: Path) -> None:
    with open(path, "r+b") as stream:
        stream.write(b"[")


def _last_byte(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)
    append(path, b" ")


def _same_size_and_time(path: Path) -> None:
    before = path.stat()
    _first_byte(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replaced_by_longer(path: Path) -> None:
    write(path.with_name("new"), path.read_bytes() + b'{"type":"summary"}\n')
    os.replace(path.with_name("new"), path)


def _replaced_by_other(path: Path) -> None:
    write(path.with_name("new"), claude_session(9).bytes())
    os.replace(path.with_name("new"), path)


def _touched(path: Path) -> None:
    os.utime(path, ns=(1, 1))


@pytest.mark.parametrize(
    ("happens", "what"),
    [
        (_append, "grown"),
        (_replaced_by_longer, "grown"),
        (_cut, "rewritten"),
        (_cut_to_nothing, "rewritten"),
        (_cut_and_grown, "rewritten"),
        (_first_byte, "rewritten"),
        (_last_byte, "rewritten"),
        (_same_size_and_time, "rewritten"),
        (_replaced_by_other, "rewritten"),
        (_touched, "touched"),
    ],
)
def test_the_bytes_tell_what_happened(made: Made, happens: Callable[[Path], None], what: str) -> None:
    happens(transcript(made, ONE))
    assert summary(changes(made)) == {what: [f"{ONE}.jsonl"]}


def test_a_line_written_over_by_one_that_ends_alike_is_noticed(made: Made) -> None:
    path, line = transcript(made, ONE), b'{"type":"summary","summary":"%s' + b"x" * 20_000 + b'"}\n'
    append(path, line % b"first" + line % b"one")
    index_of(made)
    os.truncate(path, path.stat().st_size - len(line) - 1)
    append(path, line % b"two")
    _append(path)
    assert summary(changes(made)) == {"rewritten": [path.name]}


def test_a_log_under_another_name_is_the_same_log(made: Made) -> None:
    path = transcript(made, ONE)
    path.rename(path.with_name("other.jsonl"))
    found = summary(changes(made))
    assert found == {"moved": [f"{ONE}.jsonl -> other.jsonl"], "touched": [f"{ONE}.jsonl"]}


def test_a_log_that_moved_and_grew_is_read_from_where_it_was_left(made: Made) -> None:
    path = transcript(made, ONE)
    there = transcript(made, ONE, slug="-elsewhere")
    there.parent.mkdir()
    path.rename(there)
    _append(there)
    found = summary(changes(made))
    assert found == {"moved": [f"{ONE}.jsonl -> {ONE}.jsonl"], "grown": [f"{ONE}.jsonl"]}


def test_a_compressed_log_is_the_same_log(made: Made) -> None:
    path = next(made.codex.rglob("*.jsonl"))
    write(path.with_name(f"{path.name}.zst"), zstandard.compress(path.read_bytes()))
    path.unlink()
    found = summary(changes(made))
    assert found == {"moved": [f"{path.name} -> {path.name}.zst"], "touched": [path.name]}


def test_what_is_gone_is_kept(made: Made) -> None:
    transcript(made, ONE).unlink()
    assert summary(changes(made)) == {"kept": [f"{ONE}.jsonl"]}


def test_what_is_gone_and_stands_in_a_copy_is_past(made: Made) -> None:
    path = transcript(made, ONE)
    write(transcript(made, ONE, slug="-elsewhere"), path.read_bytes())
    index_of(made)
    path.unlink()
    assert summary(changes(made)) == {"past": [f"{ONE}.jsonl"]}


def test_what_is_gone_and_stands_only_in_part_elsewhere_is_kept(made: Made) -> None:
    path = transcript(made, ONE)
    write(transcript(made, ONE, slug="-elsewhere"), path.read_bytes()[:800])
    index_of(made)
    path.unlink()
    assert summary(changes(made)) == {"kept": [f"{ONE}.jsonl"]}


def test_a_log_that_is_put_back_is_back(made: Made) -> None:
    path = transcript(made, ONE)
    data = path.read_bytes()
    path.unlink()
    index_of(made)
    write(path, data)
    assert summary(changes(made)) == {"back": [f"{ONE}.jsonl"], "touched": [f"{ONE}.jsonl"]}


def test_two_logs_that_change_places_are_both_rewritten(made: Made) -> None:
    one = transcript(made, ONE)
    two = write(transcript(made, "two"), claude_session(2).bytes())
    index_of(made)
    one.rename(one.with_name("aside"))
    two.rename(one)
    one.with_name("aside").rename(two)
    assert summary(changes(made)) == {"rewritten": [one.name, two.name]}


def test_a_new_log_that_was_given_the_inode_of_another_is_new(made: Made) -> None:
    """A file system gives the inode of a deleted file away again; simulated by writing into a renamed file."""
    path = transcript(made, ONE)
    there = path.with_name("new.jsonl")
    path.rename(there)
    there.write_bytes(claude_session(7).bytes())
    assert summary(changes(made)) == {"new": ["new.jsonl"], "kept": [f"{ONE}.jsonl"]}


def test_every_log_is_looked_at_if_that_is_asked_for(made: Made, opened_files: list[str]) -> None:
    opened_files.clear()
    found = changes(made, is_full=True)
    assert summary(found) == {"touched": sorted(path.name for path in made.logs())}
    assert {str(path) for path in made.logs()} <= set(opened_files)


def test_a_link_in_place_of_a_log_means_that_it_is_gone(made: Made) -> None:
    path = transcript(made, ONE)
    path.rename(made.top / "outside.jsonl")
    path.symlink_to(made.top / "outside.jsonl")
    assert summary(changes(made)) == {"kept": [path.name]}


def test_a_line_more_is_found_however_often_it_comes(made: Made) -> None:
    path, log = transcript(made, ONE), claude_session(1)
    for n in range(3):
        append(path, claude_turn(log, n + 1))
        assert summary(changes(made)) == {"grown": [path.name]}
        index_of(made)
        assert summary(changes(made)) == {}


def test_a_compressed_log_that_stands_beside_itself_uncompressed_is_the_same_log(made: Made) -> None:
    path = next(made.codex.rglob("*.jsonl"))
    packed = write(path.with_name(f"{path.name}.zst"), zstandard.compress(path.read_bytes()))
    assert summary(changes(made)) == {}
    data = path.read_bytes()
    path.unlink()
    index_of(made)
    write(path, data)
    assert packed.exists()
    assert summary(changes(made)) == {"moved": [f"{packed.name} -> {path.name}"], "touched": [packed.name]}


def test_a_log_in_the_home_of_another_agent_is_another_log(made: Made) -> None:
    path = next(made.codex.rglob("*.jsonl"))
    path.rename(transcript(made, "other"))
    assert summary(changes(made)) == {"new": ["other.jsonl"], "past": [path.name]}


def test_a_copy_under_another_name_is_found_by_what_they_share(made: Made) -> None:
    path = transcript(made, ONE)
    write(path.with_name("copy.jsonl"), path.read_bytes())
    index_of(made)
    path.unlink()
    assert summary(changes(made)) == {"past": [path.name]}
