from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conversation.test_thread_page import ID, TALK, write_home
from tests.model.lines import log, user
from tests.views.cli.command import with_old_folders
from tests.views.web.live_site import Heard, soon
from tracklog.agents.discovery import roots_at
from tracklog.app.index.background import Indexing
from tracklog.home import Home, held_lock
from tracklog.sessions.tables_lists import known_session
from tracklog.sources.log_file import Root
from tracklog.store.database import reading


@contextmanager
def indexing(logs: Path, home: Path) -> Iterator[tuple[Indexing, Heard]]:
    hub = Heard()
    made = Indexing(Home(home), roots_at(logs), hub)
    made.start()
    try:
        yield made, hub
    finally:
        made.close()


def turns_known(home: Path) -> int:
    with reading(Home(home)) as database:
        assert database is not None
        row = database.db.execute("select turns from session_rows").fetchone()
        return int(row[0])


def test_the_index_is_made_beside_the_server_and_says_how_far_it_is(tmp_path: Path) -> None:
    write_home(tmp_path / "logs", *TALK)
    with indexing(tmp_path / "logs", tmp_path / "home") as (made, hub):
        soon(lambda: made.status().state == "fresh")
        status = made.status()
    assert (status.files, status.files_known, status.problems, status.why) == (1, 1, [], None)
    assert (status.behind_ms, status.is_first) == (0, False)
    with reading(Home(tmp_path / "home")) as database:
        assert database is not None
        known = known_session(database.db, "claude", ID)
        assert known is not None
        assert known.is_listed
    told = hub.named("index")
    assert [one["state"] for one in told][:1] == ["reading"]
    assert told[-1]["state"] == "fresh"
    assert told[-1]["bytes_total"] > 0


def test_what_was_appended_is_read_after_a_nudge(tmp_path: Path) -> None:
    path = write_home(tmp_path / "logs", *TALK)
    with indexing(tmp_path / "logs", tmp_path / "home") as (made, _):
        soon(lambda: made.status().state == "fresh")
        with path.open("ab") as stream:
            stream.write(log([user("z", "h", "one more")]) + b"\n")
        made.nudge()
        assert made.status().behind_ms >= 0
        soon(lambda: made.status().passes == 2)
        assert made.status().behind_ms == 0
    assert turns_known(tmp_path / "home") == 3


def test_where_another_process_writes_the_index_it_is_busy_and_not_fresh(tmp_path: Path) -> None:
    write_home(tmp_path / "logs", *TALK)
    home = Home(tmp_path / "home")
    home.make()
    with held_lock(home), indexing(tmp_path / "logs", tmp_path / "home") as (made, _):
        soon(lambda: made.status().state == "busy")
        assert made.status().is_first
        assert made.status().behind_ms >= 0


def test_a_home_that_cannot_be_used_is_a_failure_that_says_why(tmp_path: Path) -> None:
    write_home(tmp_path / "logs", *TALK)
    (tmp_path / "home").write_text("a file stands here")
    with indexing(tmp_path / "logs", tmp_path / "home") as (made, _):
        soon(lambda: made.status().state == "failed")
        assert "not a directory" in (made.status().why or "")


def test_it_ends_at_once_in_the_middle_of_a_pass(tmp_path: Path) -> None:
    write_home(tmp_path / "logs", *TALK)
    with indexing(tmp_path / "logs", tmp_path / "home") as (made, _):
        soon(lambda: made.status().state == "reading")
    assert not made._thread.is_alive()


def test_a_pass_whose_process_starts_while_it_ends_is_ended_too(tmp_path: Path) -> None:
    write_home(tmp_path / "logs", *TALK)
    made = Indexing(Home(tmp_path / "home"), roots_at(tmp_path / "logs"), Heard())
    made.close()  # the thread is about to start a process, which it does not see
    made._pass()
    assert made.status().passes == 0


def test_a_pass_whose_process_was_killed_is_said_to_have_failed_and_made_again_by_itself(
    tmp_path: Path,
) -> None:
    write_home(tmp_path / "logs", *TALK)
    with indexing(tmp_path / "logs", tmp_path / "home") as (made, hub):
        soon(lambda: made._child is not None)
        assert made._child is not None
        made._child.kill()
        soon(lambda: made.status().state == "failed")
        assert made.status().why == "the process that reads was ended by SIGKILL"
        soon(lambda: made.status().state == "fresh")
    assert "fresh" not in [one["state"] for one in hub.named("index")][:2]
    assert turns_known(tmp_path / "home") == 2


def test_when_the_other_process_is_done_the_index_becomes_fresh_though_nothing_changed(
    tmp_path: Path,
) -> None:
    write_home(tmp_path / "logs", *TALK)
    home = Home(tmp_path / "home")
    home.make()
    with indexing(tmp_path / "logs", tmp_path / "home") as (made, _):
        with held_lock(home):
            soon(lambda: made.status().state == "busy")
        soon(lambda: made.status().state == "fresh")


def test_an_index_that_is_damaged_while_it_is_served_is_set_aside_and_that_stays_said(tmp_path: Path) -> None:
    write_home(tmp_path / "logs", *TALK)
    home = Home(tmp_path / "home")
    with indexing(tmp_path / "logs", tmp_path / "home") as (made, _):
        soon(lambda: made.status().state == "fresh")
        home.index.write_bytes(b"no database " * 4000)
        made.nudge()
        soon(lambda: made.status().passes == 2)
        assert [one.rpartition("; ")[2] for one in made.status().problems] == [
            "it is now index.damaged-1.db, and a new one is made"
        ]
        made.nudge()
        soon(lambda: made.status().passes == 3)
        assert len(made.status().problems) == 1
    assert turns_known(tmp_path / "home") == 2
    assert (tmp_path / "home" / "index.damaged-1.db").exists()


def test_a_home_that_does_not_exist_yet_is_no_problem_and_no_reason_to_read_again(tmp_path: Path) -> None:
    """Whoever has but one of the agents had "1 problem" in the foot for ever, and a reading every minute."""
    write_home(tmp_path / "logs", *TALK)
    with_old_folders(tmp_path / "logs")
    home, hub = Home(tmp_path / "home"), Heard()
    made = Indexing(home, [*roots_at(tmp_path / "logs"), Root(tmp_path / "codex", "codex")], hub)
    made.start()
    try:
        soon(lambda: made.status().state == "fresh")
        assert made.status().problems == []
        assert not made._has_changed()
    finally:
        made.close()
