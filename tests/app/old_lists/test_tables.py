"""The tables in memory: they say what the commands say, and go on saying it while the index changes."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.index.indexed_logs import PRICES
from tests.index.known_homes import (
    Made,
    answer,
    append,
    claude_session,
    claude_turn,
    codex_session,
    index_of,
    transcript,
    two_sessions,
    write,
)
from tests.oracle.logs import ClaudeLog, message_id, session_id, tool_use, usage
from tests.views.web.many_sessions import write_many
from tracklog.app.old_lists.choice import SessionFilter, SessionSelection
from tracklog.app.old_lists.tables import Shot, Tables
from tracklog.home import Home
from tracklog.index.session_rows import session_files, settle_sessions
from tracklog.index.sync import sync
from tracklog.ledger.stored.refresh import settle_ledger
from tracklog.sources.log_file import Root
from tracklog.store.database import StoreError, put_setting, reading, writing
from tracklog.store.scope import scope_of
from tracklog.views.text.numbers import micro

_TOLD = (
    *(
        "id",
        "agent",
        "title",
        "project",
        "branch",
        "models",
        "started_at",
        "last_at",
        "state",
        "turns",
        "calls",
    ),
    *("errors", "cost_micro_usd", "cost_is_lower_bound", "only_here"),
)


def read_in(made: Made) -> None:
    """Brings the index up to date, the ledger as well."""
    index_of(made)
    with writing(made.home) as database:
        settle_ledger(database, session_files(database), PRICES)


def empty(top: Path) -> Made:
    """The homes of both agents, with nothing in them."""
    made = Made(top)
    for home in (made.claude / "projects", made.codex / "sessions"):
        home.mkdir(parents=True)
    return made


def tables(made: Made, *roots: Path) -> Tables:
    scope = scope_of(roots or [made.claude, made.codex])
    return Tables(made.home, scope, lambda: PRICES, patience_s=30.0)


def shot_of(these: Tables) -> Shot:
    shot = these.shot()
    assert shot is not None
    return shot


def told(shot: Shot) -> list[dict[str, Any]]:
    """Sessions as the document of `sessions` tells them, as far as tables do."""
    return [
        {
            "id": one.id,
            "agent": one.agent,
            "title": one.title,
            "project": one.project,
            "branch": one.branch,
            "models": list(one.models),
            "started_at": one.started_at,
            "last_at": one.last_at,
            "state": one.state,
            "turns": one.turns,
            "calls": one.calls,
            "errors": one.errors,
            "cost_micro_usd": micro(shot.sessions.spent_by(one).cost_pico_usd),
            "cost_is_lower_bound": shot.sessions.spent_by(one).is_lower_bound,
            "only_here": one.only_here,
        }
        for one in sorted(shot.sessions.sessions, key=lambda one: (one.agent, one.id))
    ]


def as_listed(made: Made, *roots: Path) -> list[dict[str, Any]]:
    """The same from the command."""
    meant = _Meant(roots) if roots else made
    rows = answer(meant, made.home, "sessions", "--no-sync")["sessions"]  # type: ignore[arg-type]
    return [
        {name: row[name] for name in _TOLD} for row in sorted(rows, key=lambda row: (row["agent"], row["id"]))
    ]


class _Meant:
    """Some of the roots of a home."""

    def __init__(self, roots: tuple[Path, ...]) -> None:
        self.roots = [Root(path, None) for path in roots]


def calls_told(shot: Shot, home: Home) -> list[tuple[str, str, float | None]]:
    with reading(home) as database:
        assert database is not None
        details = shot.details(database, shot.calls.calls)
    return sorted((details[one.row, one.n].call, one.verdict, one.took_ms) for one in shot.calls.calls)


def calls_listed(made: Made) -> list[tuple[str, str, float | None]]:
    rows = answer(made, made.home, "calls", "--no-sync")["calls"]
    return sorted((row["id"], row["verdict"], row["took_ms"]) for row in rows)


def assert_as_listed(made: Made, shot: Shot) -> None:
    assert told(shot) == as_listed(made)
    assert calls_told(shot, made.home) == calls_listed(made)


def test_sessions_calls_and_costs_are_those_of_the_commands(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    write_many(made.claude, 40)
    read_in(made)
    shot = shot_of(tables(made))
    assert len(shot.sessions.sessions) == 42
    assert_as_listed(made, shot)
    costs = {row["key"]: row["cost_micro_usd"] for row in answer(made, made.home, "usage", "session")["rows"]}
    spent = {one.id: shot.sessions.spent_by(one) for one in shot.sessions.sessions}
    priced = {id: micro(one.cost_pico_usd) for id, one in spent.items() if one.cost_pico_usd is not None}
    assert priced == {id: costs[id] for id in priced}
    assert len(priced) > 30


def test_what_changed_is_taken_in_and_older_shots_stay_as_they_were(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    write_many(made.claude, 5)
    read_in(made)
    these = tables(made)
    first = shot_of(these)
    before = told(first)
    log = claude_session(1)
    append(transcript(made, log.session), claude_turn(log, 7))
    write(transcript(made, session_id(8)), claude_session(8).bytes())
    write(tmp_path / codex_session(9).path, codex_session(9).bytes())
    read_in(made)
    second = shot_of(these)
    assert len(second.sessions.sessions) == len(first.sessions.sessions) + 2
    assert shot_of(these) is second
    assert_as_listed(made, second)
    assert told(first) == before


def test_growing_step_by_step_ends_where_a_fresh_look_does(tmp_path: Path) -> None:
    made = empty(tmp_path)
    logs = [claude_session(n) for n in range(1, 5)]
    these = tables(made)
    assert these.shot() is None
    for step in range(6):
        for n, log in enumerate(logs):
            if step == 0:
                write(transcript(made, log.session), log.bytes())
            elif (n + step) % 3 == 0:
                append(transcript(made, log.session), claude_turn(log, n * 100 + step))
        read_in(made)
        grown, fresh = shot_of(these), shot_of(tables(made))
        assert told(grown) == told(fresh)
        assert grown.calls.calls == fresh.calls.calls
        assert [one.uses for one in grown.sessions.sessions] == [one.uses for one in fresh.sessions.sessions]
    assert_as_listed(made, grown)


def test_a_session_that_is_gone_is_no_longer_in_the_tables(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    index_without_archive(made)
    these = tables(made)
    assert len(shot_of(these).sessions.sessions) == 2
    transcript(made, session_id(1)).unlink()
    for path in (transcript(made, session_id(1)).with_suffix("") / "subagents").iterdir():
        path.unlink()
    index_without_archive(made)
    shot = shot_of(these)
    assert [one.agent for one in shot.sessions.sessions] == ["codex"]
    assert {one.row for one in shot.calls.calls} == {one.row for one in shot.sessions.sessions}


def index_without_archive(made: Made) -> None:
    with writing(made.home) as database:
        with database.transaction() as db:
            put_setting(db, "archive", "off")
        sync(database, made.roots, with_archive=False)
        settle_sessions(database)
        settle_ledger(database, session_files(database), PRICES)


def forked(made: Made) -> tuple[ClaudeLog, ClaudeLog]:
    """A session, and another that begins with a copy of it and goes on."""
    one = claude_session(1)
    other = ClaudeLog(session_id(2), at="2026-01-02T12:00:00.000Z")
    for record in one.records:
        assert isinstance(record, dict)
        other.copy([record], forkedFrom={"sessionId": one.session, "messageUuid": record["uuid"]})
    other._parent = one.records[-1]["uuid"]  # type: ignore[call-overload]
    other.prompt("Go on.")
    other.reply(message_id(99), usage(5, 5), stop="tool_use", content=[tool_use("toolu_new", name="Read")])
    other.result("toolu_new")
    for log in (one, other):
        write(transcript(made, log.session), log.bytes())
    return one, other


def test_a_copied_call_is_told_once_and_of_its_copy_when_the_original_is_gone(tmp_path: Path) -> None:
    made = empty(tmp_path)
    one, other = forked(made)
    index_without_archive(made)
    these = tables(made)
    shot = shot_of(these)
    assert_as_listed(made, shot)
    assert (len(shot.calls.calls), shot.calls.copies) == (2, set())
    transcript(made, one.session).unlink()
    index_without_archive(made)
    shot = shot_of(these)
    assert_as_listed(made, shot)
    [session] = shot.sessions.sessions
    assert (session.id, session.calls, session.copies, len(shot.calls.calls)) == (other.session, 1, 1, 2)
    assert session.uses == {("Bash", "ok"), ("Read", "ok")}
    assert shot.calls.copies == {(session.row, 0)}


def test_only_the_roots_that_are_meant_are_told(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    read_in(made)
    shot = shot_of(tables(made, made.codex))
    assert told(shot) == as_listed(made, made.codex)
    assert [one.agent for one in shot.sessions.sessions] == ["codex"]
    assert len(shot.calls.calls) == 1


def test_of_a_session_in_two_places_only_what_stands_in_the_one_that_is_meant_is_told(tmp_path: Path) -> None:
    made = Made(tmp_path)
    log = claude_session(1)
    here, there = made.claude / "projects" / "-one", made.claude / "projects" / "-two"
    write(here / f"{log.session}.jsonl", log.bytes())
    claude_turn(log, 3)
    write(there / f"{log.session}.jsonl", log.bytes())
    read_in(made)
    these = tables(made, here)
    shot = shot_of(these)
    assert told(shot) == as_listed(made, here)
    [session] = shot.sessions.sessions
    assert (session.turns, session.calls, set(session.uses)) == (1, 1, {("Bash", "ok")})
    assert [call for call, _, _ in calls_told(shot, made.home)] == [f"toolu_{log.session[-6:]}00001000"]
    assert told(shot_of(tables(made)))[0]["turns"] == 2


def test_subagents_are_counted_and_named(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    read_in(made)
    shot = shot_of(tables(made))
    [session] = [one for one in shot.sessions.sessions if one.subagents]
    with reading(made.home) as database:
        assert database is not None
        named = shot.subagents(database, [session.row])
    assert [(one.thread, one.type, one.calls) for one in named[session.row]] == [("a1", "Explore", 1)]


def test_without_an_index_there_are_no_tables_until_there_is_one(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    these = tables(made)
    these.warm()
    assert these.shot() is None
    read_in(made)
    assert len(shot_of(these).sessions.sessions) == 2


def test_a_damaged_index_is_said_to_whoever_asks_and_a_sound_one_heals_it(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    read_in(made)
    good = made.home.index.read_bytes()
    these = tables(made)
    made.home.index.write_bytes(b"no index at all " * 500)
    with pytest.raises(StoreError):
        these.shot()
    made.home.index.write_bytes(good)
    assert len(shot_of(these).sessions.sessions) == 2


def test_costs_are_unknown_until_they_are_counted(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    index_of(made)
    with writing(made.home) as database, database.transaction() as db:
        db.execute("delete from ledger_state")
    shot = shot_of(tables(made))
    assert not shot.sessions.is_counted
    assert {shot.sessions.spent_by(one).cost_pico_usd for one in shot.sessions.sessions} == {None}


def test_many_may_ask_at_once(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    write_many(made.claude, 30)
    read_in(made)
    these = tables(made)
    found: list[int] = []

    def look() -> None:
        found.append(SessionSelection(shot_of(these).sessions, SessionFilter()).total)

    threads = [Thread(target=look) for _ in range(12)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(30)
    assert found == [32] * 12


def test_who_has_an_older_shot_does_not_wait_long_for_a_newer_one(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    read_in(made)
    these = Tables(made.home, scope_of([made.claude, made.codex]), lambda: PRICES, patience_s=0.0)
    first = shot_of(these)
    write_many(made.claude, 20)
    read_in(made)
    assert shot_of(these) is first
    until = time.monotonic() + 60
    while len(shot_of(these).sessions.sessions) != 22:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_title_that_came_late_is_seen_and_what_is_known_of_calls_is_kept(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    read_in(made)
    these = tables(made)
    first = shot_of(these)
    with writing(made.home) as database, database.transaction() as db:
        db.execute("insert into settings values ('some', 'thing')")
    second = shot_of(these)
    assert second is not first
    assert second.calls is first.calls
    with writing(made.home) as database, database.transaction() as db:
        db.execute("update session_rows set title = 'another' where agent = 'codex'")
    assert "another" in [one.title for one in shot_of(these).sessions.sessions]


def test_calls_that_were_put_again_under_the_same_numbers_are_seen(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    read_in(made)
    these = tables(made)
    before = sorted(one.verdict for one in shot_of(these).calls.calls)
    with writing(made.home) as database, database.transaction() as db:  # what a late word of a hook changes
        db.execute("update call_rows set verdict = 'denied' where id = (select max(id) from call_rows)")
    after = shot_of(these)
    assert before == ["ok", "ok", "ok"]
    assert sorted(one.verdict for one in after.calls.calls) == ["denied", "ok", "ok"]
    assert [use for one in after.sessions.sessions for use in one.uses if use[1] == "denied"] != []
