"""Lists of pages: they have what the commands list, whatever changes in the index."""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection
from threading import Thread
from typing import Any, NamedTuple

import pytest

from tests.index.indexed_logs import PRICES
from tests.index.known_homes import (
    Made,
    answer,
    append,
    claude_session,
    claude_turn,
    codex_session,
    index_without_archive,
    read_in,
    transcript,
    two_sessions,
    write,
)
from tests.oracle.logs import OPUS, ClaudeLog, message_id, session_id, tool_use, usage
from tests.views.web.many_sessions import write_many
from tracklog.app.pages.lists import Lists, OpenLists, SessionFilter, SessionsPage, ShownCall, WantedCalls
from tracklog.index.refresh import RefreshSteps, refresh
from tracklog.index.session_rows import session_files
from tracklog.index.sync import sync
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.stored.refresh import settle_ledger
from tracklog.ledger.stored.tables_costs import SessionCost
from tracklog.model.usage import micro
from tracklog.sessions.listed import FacetCount
from tracklog.sessions.tables_listed import MISSING, fill_lists
from tracklog.sources.log_file import Root
from tracklog.store.database import StoreError, put_setting, writing
from tracklog.store.scope import scope_of

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
_DEARER = f'[[price]]\nmodel = "{OPUS}"\ninput = 70\noutput = 80\n'.encode()


def empty(top: Path) -> Made:
    """The homes of both agents, with nothing in them."""
    made = Made(top)
    for home in (made.claude / "projects", made.codex / "sessions"):
        home.mkdir(parents=True)
    return made


def lists(made: Made, *roots: Path) -> Lists:
    return Lists(made.home, scope_of(roots or [made.claude, made.codex]), lambda: PRICES)


class Listed(NamedTuple):
    """All that lists have."""

    sessions: SessionsPage
    calls: list[tuple[str, str, float | None]]
    shown: list[ShownCall]

    @property
    def told(self) -> list[dict[str, Any]]:
        """Sessions as the document of `sessions` has them, as far as lists do."""
        spent = self.sessions.page.spent
        return [
            {
                **{name: getattr(one, name) for name in _TOLD if hasattr(one, name)},
                "models": list(one.models),
                "cost_micro_usd": micro(spent.get(one.id, SessionCost()).cost_pico_usd),
                "cost_is_lower_bound": spent.get(one.id, SessionCost()).is_lower_bound,
            }
            for one in sorted(self.sessions.page.sessions, key=lambda one: (one.agent, one.id))
        ]


def listed(these: Lists) -> Listed:
    with these.opened() as open_lists:
        assert open_lists is not None
        return all_of(open_lists)


def all_of(open_lists: OpenLists) -> Listed:
    order: Any = {"is_descending": True, "after": None, "most": 999}
    sessions = open_lists.sessions_page(SessionFilter(), states={}, sort="last", **order)
    found = open_lists.calls_page(WantedCalls(), None, thread=None, sort="time", **order)
    calls = [(found.details[one.line.row, one.line.n].call, one.line) for one in found.page.calls]
    return Listed(sessions, sorted((id, line.verdict, line.took_ms) for id, line in calls), found.page.calls)


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


def calls_listed(made: Made) -> list[tuple[str, str, float | None]]:
    rows = answer(made, made.home, "calls", "--no-sync")["calls"]
    return sorted((row["id"], row["verdict"], row["took_ms"]) for row in rows)


def assert_as_commands_list(made: Made, these: Lists) -> None:
    found = listed(these)
    assert found.told == as_listed(made)
    assert found.calls == calls_listed(made)


def test_sessions_calls_and_costs_are_those_of_the_commands(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    write_many(made.claude, 40)
    read_in(made)
    these = lists(made)
    assert len(listed(these).told) == 42
    assert_as_commands_list(made, these)
    costs = {row["key"]: row["cost_micro_usd"] for row in answer(made, made.home, "usage", "session")["rows"]}
    priced = {
        id: micro(one.cost_pico_usd)
        for id, one in listed(these).sessions.page.spent.items()
        if one.cost_pico_usd is not None
    }
    assert priced == {id: costs[id] for id in priced}
    assert len(priced) > 30


def test_open_lists_stay_as_they_were_while_the_index_changes(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    write_many(made.claude, 5)
    read_in(made)
    these = lists(made)
    with these.opened() as open_lists:
        assert open_lists is not None
        before = all_of(open_lists)
        log = claude_session(1)
        append(transcript(made, log.session), claude_turn(log, 7))
        write(transcript(made, session_id(8)), claude_session(8).bytes())
        write(tmp_path / codex_session(9).path, codex_session(9).bytes())
        read_in(made)
        after = all_of(open_lists)
        assert (after.told, after.shown) == (before.told, before.shown)
    assert len(listed(these).told) == len(before.told) + 2
    assert_as_commands_list(made, these)


def test_growing_step_by_step_ends_where_an_index_made_at_once_does(tmp_path: Path) -> None:
    made = empty(tmp_path)
    logs = [claude_session(n) for n in range(1, 5)]
    with lists(made).opened() as nothing:
        assert nothing is None
    for step in range(6):
        for n, log in enumerate(logs):
            if step == 0:
                write(transcript(made, log.session), log.bytes())
            elif (n + step) % 3 == 0:
                append(transcript(made, log.session), claude_turn(log, n * 100 + step))
        read_in(made)
        assert_as_commands_list(made, lists(made))
    with writing(made.home) as database, database.transaction() as db:
        grown = _lists_in(db)
        fill_lists(db)
        assert _lists_in(db) == grown


def _lists_in(db: Connection) -> list[list[Any]]:
    facets = "select kind, name, row from facets join list_values on id = value"
    calls = "select called_ms, row, n, name, verdict, took_ms, took_by, is_copy from list_calls join list_values on id = tool"
    return [sorted(db.execute(asked).fetchall()) for asked in ("select * from list_rows", facets, calls)]


def test_an_index_of_an_earlier_version_has_no_lists_until_they_are_made_from_its_rows(
    tmp_path: Path,
) -> None:
    made = two_sessions(tmp_path)
    write_many(made.claude, 5)
    read_in(made)
    before = listed(lists(made))
    with writing(made.home) as database, database.transaction() as db:
        for table in ("list_rows", "list_values", "facets", "list_calls"):
            db.execute(f"delete from {table}")
        put_setting(db, MISSING, "missing")
    with lists(made).opened() as nothing:
        assert nothing is None
    with writing(made.home) as database:
        refresh(database, made.roots, RefreshSteps())
    after = listed(lists(made))
    assert (after.told, after.calls) == (before.told, before.calls)


def test_a_session_that_is_gone_is_no_longer_listed(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    index_without_archive(made)
    these = lists(made)
    assert len(listed(these).told) == 2
    transcript(made, session_id(1)).unlink()
    for path in (transcript(made, session_id(1)).with_suffix("") / "subagents").iterdir():
        path.unlink()
    index_without_archive(made)
    found = listed(these)
    assert [one["agent"] for one in found.told] == ["codex"]
    assert {one.line.row for one in found.shown} == {one.row for one in found.sessions.page.sessions}


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


def test_a_copied_call_is_listed_once_and_of_its_copy_when_the_original_is_gone(tmp_path: Path) -> None:
    made = empty(tmp_path)
    one, other = forked(made)
    index_without_archive(made)
    these = lists(made)
    found = listed(these)
    assert_as_commands_list(made, these)
    assert [call.is_copy for call in found.shown] == [False, False]
    original = transcript(made, one.session).read_bytes()
    transcript(made, one.session).unlink()
    index_without_archive(made)
    found = listed(these)
    assert_as_commands_list(made, these)
    [session] = found.sessions.page.sessions
    assert (session.id, session.calls, session.copies, len(found.shown)) == (other.session, 1, 1, 2)
    assert [choice.label for choice in _tools(these)] == ["Bash", "Read"]
    assert [(call.line.row, call.line.n) for call in found.shown if call.is_copy] == [(session.row, 0)]
    transcript(made, one.session).write_bytes(original)
    index_without_archive(made)
    assert_as_commands_list(made, these)
    assert [call.is_copy for call in listed(these).shown] == [False, False]


def _tools(these: Lists) -> list[FacetCount]:
    with these.opened() as open_lists:
        assert open_lists is not None
        return all_of(open_lists).sessions.chosen.tools()


def test_only_the_roots_that_are_meant_are_listed(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    read_in(made)
    found = listed(lists(made, made.codex))
    assert found.told == as_listed(made, made.codex)
    assert [one["agent"] for one in found.told] == ["codex"]
    assert len(found.calls) == 1


def test_of_a_session_in_two_places_only_the_log_in_the_one_that_is_meant_is_listed(tmp_path: Path) -> None:
    made = Made(tmp_path)
    log = claude_session(1)
    here, there = made.claude / "projects" / "-one", made.claude / "projects" / "-two"
    write(here / f"{log.session}.jsonl", log.bytes())
    claude_turn(log, 3)
    write(there / f"{log.session}.jsonl", log.bytes())
    read_in(made)
    these = lists(made, here)
    found = listed(these)
    assert found.told == as_listed(made, here)
    [session] = found.sessions.page.sessions
    assert (session.turns, session.calls) == (1, 1)
    assert [call for call, _, _ in found.calls] == [f"toolu_{log.session[-6:]}00001000"]
    assert listed(lists(made)).told[0]["turns"] == 2
    with these.opened() as open_lists:
        assert open_lists is not None
        order: Any = {"sort": "time", "is_descending": True, "after": None, "most": 9}
        wanted = WantedCalls(session=log.session)
        assert open_lists.calls_page(wanted, None, thread="main", **order).page.total == 1
        assert open_lists.calls_page(wanted, None, thread="other", **order).page.total == 0


def test_lists_of_some_roots_follow_the_index(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    read_in(made)
    these = lists(made, made.claude)
    these._again_at = 0.0
    assert len(listed(these).told) == 1
    write(transcript(made, session_id(8)), claude_session(8).bytes())
    read_in(made)
    these._again_at = 0.0
    assert listed(these).told == as_listed(made, made.claude)
    assert len(listed(these).told) == 2


def test_subagents_are_counted_and_named(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    read_in(made)
    found = listed(lists(made)).sessions
    [session] = [one for one in found.page.sessions if one.subagents]
    named = found.subagents[session.row]
    assert [(one.thread, one.type, one.calls) for one in named] == [("a1", "Explore", 1)]


def test_without_an_index_there_are_no_lists_until_there_is_one(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    these = lists(made)
    with these.opened() as nothing:
        assert nothing is None
    read_in(made)
    assert len(listed(these).told) == 2


def test_sessions_are_listed_while_the_index_is_still_filled(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    with writing(made.home) as database:
        sync(database, made.roots)  # nothing is counted yet
    found = listed(lists(made))
    assert len(found.told) == 2
    assert not found.sessions.chosen.is_counted


def test_a_damaged_index_is_reported_and_a_sound_one_heals_it(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    read_in(made)
    good = made.home.index.read_bytes()
    these = lists(made)
    made.home.index.write_bytes(b"no index at all " * 500)
    with pytest.raises(StoreError), these.opened():
        pass
    made.home.index.write_bytes(good)
    assert len(listed(these).told) == 2


def test_stored_costs_follow_a_change_of_prices_and_of_logs(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    read_in(made)
    before = listed(lists(made)).told
    own = Prices.load(_DEARER)
    with writing(made.home) as database:
        settle_ledger(database, session_files(database), own)
    after = listed(lists(made)).told
    assert [one["cost_micro_usd"] for one in after] != [one["cost_micro_usd"] for one in before]
    read_in(made)
    assert listed(lists(made)).told == before


def test_many_may_ask_at_once(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    write_many(made.claude, 30)
    read_in(made)
    these = lists(made, made.claude)
    found: list[int] = []
    threads = [Thread(target=lambda: found.append(len(listed(these).told))) for _ in range(12)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert found == [31] * 12
