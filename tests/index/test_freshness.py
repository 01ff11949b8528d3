"""Whether anything changed is told by one look at each known folder and log."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.index.known_homes import Made, append, claude_session, index_of, transcript, two_sessions, write
from tracklog.index.freshness import is_still
from tracklog.sources.log_file import Root, settled_times
from tracklog.store.database import writing

ONE = "00000001-0000-4000-8000-000000000001"


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """An index that was made when nothing had changed for a while."""
    made = two_sessions(tmp_path)
    os.mkdir(made.claude / "projects" / "-empty")
    time.sleep(0.15)
    index_of(made)
    return made


def still(made: Made, roots: list[Root] | None = None) -> bool:
    """Whether the index knows everything."""
    with writing(made.home) as database:
        return is_still(database.db, roots or made.roots)


def test_where_nothing_changed_all_is_still(made: Made) -> None:
    assert still(made)


def test_only_folders_and_logs_are_looked_at_and_none_is_opened(made: Made, opened_files: list[str]) -> None:
    opened_files.clear()
    assert still(made)
    assert [path for path in opened_files if path.startswith((str(made.claude), str(made.codex)))] == []


def _append(made: Made) -> None:
    append(transcript(made, ONE), b"{}\n")


def _rewrite_in_place(made: Made) -> None:
    path = transcript(made, ONE)
    before = path.stat()
    with open(path, "r+b") as stream:
        stream.write(b"[")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _delete(made: Made) -> None:
    transcript(made, ONE).unlink()


def _new_session(made: Made) -> None:
    write(transcript(made, "new"), claude_session(3).bytes())


def _new_project(made: Made) -> None:
    write(transcript(made, "new", slug="-new"), claude_session(3).bytes())


def _new_in_an_empty_folder(made: Made) -> None:
    write(transcript(made, "new", slug="-empty"), claude_session(3).bytes())


def _new_subagent(made: Made) -> None:
    write(transcript(made, ONE).with_suffix("") / "subagents" / "agent-b.jsonl", b"{}\n")


def _new_folder_beside_a_session(made: Made) -> None:
    write(transcript(made, ONE).with_suffix("") / "tool-results" / "a.txt", b"long")


def _new_day(made: Made) -> None:
    write(made.codex / "sessions/2026/03/09/rollout-2026-03-09T00-00-00-x.jsonl", b"{}\n")


def _first_archived_session(made: Made) -> None:
    write(made.codex / "archived_sessions/rollout-2026-03-09T00-00-00-x.jsonl", b"{}\n")


def _history(made: Made) -> None:
    write(made.claude / "history.jsonl", b"{}\n")


def _rename(made: Made) -> None:
    transcript(made, ONE).rename(transcript(made, "other"))


def _root_gone(made: Made) -> None:
    os.rename(made.claude, made.top / "away")


@pytest.mark.parametrize(
    "happens",
    [
        _append,
        _rewrite_in_place,
        _delete,
        _new_session,
        _new_project,
        _new_in_an_empty_folder,
        _new_subagent,
        _new_folder_beside_a_session,
        _new_day,
        _first_archived_session,
        _history,
        _rename,
        _root_gone,
    ],
)
def test_whatever_happens_to_the_logs_is_seen(made: Made, happens: Callable[[Made], None]) -> None:
    happens(made)
    assert not still(made)
    index_of(made)
    time.sleep(0.15)
    index_of(made)
    assert still(made)


def test_a_root_that_was_never_searched_is_not_still(made: Made, tmp_path: Path) -> None:
    assert not still(made, [*made.roots, Root(tmp_path / "other", None)])


def test_a_root_that_is_not_there_is_still_once_it_was_looked_for(tmp_path: Path) -> None:
    made = Made(tmp_path)
    assert not still(made)
    index_of(made)
    assert still(made)
    write(transcript(made, ONE), claude_session(1).bytes())
    assert not still(made)


def test_what_changed_while_the_folders_were_listed_is_looked_at_again() -> None:
    began = 1_000_000_000_000
    times = {"old": began - 10**9, "just now": began - 10**6, "meanwhile": began + 5, "not there": -1}
    assert settled_times(times, began) == {
        "old": began - 10**9,
        "just now": -2,
        "meanwhile": -2,
        "not there": -1,
    }


def test_a_change_elsewhere_does_not_matter(made: Made) -> None:
    write(made.top / "notes.jsonl", b"{}\n")
    assert still(made)


def test_a_session_that_only_the_archive_has_does_not_disturb(made: Made) -> None:
    transcript(made, ONE).unlink()
    index_of(made)
    time.sleep(0.15)
    index_of(made)
    assert still(made)
